// Lints the programs in Python and shell under src/, where their interpreters are installed.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const source = at('../src')
const files = readdirSync(source, { recursive: true }).map((file) => join(source, file))
const endingWith = (ending) => files.filter((file) => file.endsWith(ending))

check('python3', ['-I', '-B', at('./check-programs.py'), ...endingWith('.py')])
for (const file of endingWith('.sh')) check('sh', ['-n', file])

function check(interpreter, args) {
  const { error, status } = spawnSync(interpreter, args, { stdio: 'inherit' })
  if (error?.code === 'ENOENT') console.log(`${interpreter} is not installed: its programs are not checked.`)
  else if (status !== 0) process.exitCode = 1
}
