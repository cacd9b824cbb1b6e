// After the compiler: the command must be startable, and the bundled configs are read once, here.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fileName } from '../dist/sources/cli/config-cache.js'
import { parseConfig } from '../dist/sources/cli/parse-config.js'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
chmodSync(at('../dist/app/main.js'), 0o755)

rmSync(at('../dist/configs'), { recursive: true, force: true })
mkdirSync(at('../dist/configs'))
for (const name of readdirSync(at('../configs')).filter((file) => file.endsWith('.yaml'))) {
  const text = readFileSync(at(`../configs/${name}`), 'utf8')
  writeFileSync(
    at(`../dist/configs/${fileName(text)}`),
    JSON.stringify(parseConfig(text, name, { strict: true }).config),
  )
}
