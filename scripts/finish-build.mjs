// After the compiler: the command must be startable; the bundled configs are read, and an empty database is made, once, here.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { PGlite } from '@electric-sql/pglite'
import { fileName } from '../dist/sources/cli/config-cache.js'
import { parseConfig } from '../dist/sources/cli/parse-config.js'
import { templateFile } from '../dist/storage/pglite/template.js'

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

if (!existsSync(templateFile())) {
  rmSync(at('../dist/empty-database'), { recursive: true, force: true })
  mkdirSync(at('../dist/empty-database'))
  const database = await PGlite.create()
  await database.exec('checkpoint')
  const dump = await database.dumpDataDir('none')
  await database.close()
  writeFileSync(templateFile(), gzipSync(Buffer.from(await dump.arrayBuffer()), { level: 9 }))
}
