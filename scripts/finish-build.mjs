// After the compiler: the command must be startable; programs in other languages are copied, the query builder is bundled,
// the bundled configs are read, and an empty database is made, once, here.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { PGlite } from '@electric-sql/pglite'
import { build } from 'esbuild'
import { fileName } from '../dist/sources/cli/config-cache.js'
import { parseConfig } from '../dist/sources/cli/parse-config.js'
import { templateFile } from '../dist/storage/pglite/template.js'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
chmodSync(at('../dist/app/main.js'), 0o755)

// Programs in other languages lie beside the modules that start them.
const programs = readdirSync(at('../src'), { recursive: true }).filter((file) => /\.(py|sh)$/.test(file))
for (const file of programs) copyFileSync(at(`../src/${file}`), at(`../dist/${file}`))

await bundleQueryBuilder()
keepPublicTypes()

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
  // A window of 16 MiB finds what the template databases of the engine have in common: a third of the size of gzip.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 }
  writeFileSync(templateFile(), brotliCompressSync(Buffer.from(await dump.arrayBuffer()), { params }))
}

/** Of the query builder's 2,700 files some eighty are used: they are shipped as a bundle, and nobody installs the rest. */
async function bundleQueryBuilder() {
  const folder = at('../dist/query-builder')
  const entries = {
    'drizzle-orm': 'index',
    'drizzle-orm/pg-core': 'pg-core',
    'drizzle-orm/pglite': 'pglite',
    'drizzle-orm/postgres-js': 'postgres-js',
  }
  if (!existsSync(folder))
    await build({
      entryPoints: Object.entries(entries).map(([path, out]) => ({ in: path, out })),
      outdir: folder,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      external: ['postgres', '@electric-sql/pglite'],
      logLevel: 'error',
    })
  const storage = at('../dist/storage')
  for (const name of readdirSync(storage, { recursive: true }).filter((file) => file.endsWith('.js'))) {
    const file = join(storage, name)
    const text = readFileSync(file, 'utf8')
    const here = relative(dirname(file), folder)
    const bundled = text.replaceAll(/ from '(drizzle-orm[^']*)'/g, (_, path) => ` from '${here}/${entries[path]}.js'`)
    if (bundled !== text) writeFileSync(file, bundled)
  }
}

/** Programs see the types that the library's own reach; the query builder stays inside. */
function keepPublicTypes() {
  const database = at('../dist/storage/database.d.ts')
  const text = readFileSync(database, 'utf8')
  const opaque = text.replace(/^import type .*\n/gm, '').replace(/export type Db = .*;/, 'export type Db = object;')
  writeFileSync(database, opaque)
  const kept = new Set()
  const keep = (file) => {
    if (kept.has(file)) return
    kept.add(file)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"](\.[^'"]+)\.[jt]s['"]/g))
      keep(join(dirname(file), `${path}.d.ts`))
  }
  keep(at('../dist/index.d.ts'))
  const all = readdirSync(at('../dist'), { recursive: true }).filter((file) => file.endsWith('.d.ts'))
  for (const file of all) if (!kept.has(at(`../dist/${file}`))) rmSync(at(`../dist/${file}`))
}
