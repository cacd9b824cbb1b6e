// The build writes plain files; the command must be one that can be started.
import { chmodSync } from 'node:fs'

chmodSync(new URL('../dist/app/main.js', import.meta.url), 0o755)
