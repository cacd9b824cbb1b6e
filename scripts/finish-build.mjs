// After the compiler: the command must be startable; programs in other languages are copied, our programs and the parts used of
// large packages are bundled, the bundled configs are read, and an empty database is made, once, here.
import { spawnSync } from 'node:child_process'
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
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { PGlite, types } from '@electric-sql/pglite'
import { build } from 'esbuild'
import { cacheFileName } from '../dist/sources/cli/cli-source.js'
import { parseConfig } from '../dist/sources/cli/parse-config.js'
import { templateFile, withTemplateLinks } from '../dist/storage/pglite/template.js'

const largePackages = {
  '@scalar/openapi-upgrader': 'openapi-upgrader',
  'drizzle-orm': 'query-builder',
  'drizzle-orm/pg-core': 'pg-core',
  'drizzle-orm/pglite': 'pglite',
  'drizzle-orm/postgres-js': 'postgres-js',
}
const isLarge = new RegExp(`^(?:${Object.keys(largePackages).join('|')})$`)
const asModules = { bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20' }
const at = (path) => fileURLToPath(new URL(path, import.meta.url))

/** The query builder gets an open engine, often one in a thread: it needs the numbers of types only, and nothing loads the engine. */
const withoutEngine = {
  name: 'without-engine',
  setup(bundler) {
    bundler.onResolve({ filter: /^@electric-sql\/pglite$/ }, ({ path }) => ({ path, namespace: 'types-only' }))
    bundler.onLoad({ filter: /./, namespace: 'types-only' }, () => ({
      contents: `export const types = ${JSON.stringify(types)}\nexport class PGlite {}`,
    }))
  },
}

// Programs in other languages lie beside the modules that start them.
const foreign = readdirSync(at('../src'), { recursive: true }).filter((file) => /\.(py|sh)$/.test(file))
for (const file of foreign) copyFileSync(at(`../src/${file}`), at(`../dist/${file}`))

removeStale()
await bundleLargePackages()
await bundlePrograms()
chmodSync(at('../dist/app/main.js'), 0o755)
keepPublicTypes()

rmSync(at('../dist/configs'), { recursive: true, force: true })
mkdirSync(at('../dist/configs'))
for (const name of readdirSync(at('../configs')).filter((file) => file.endsWith('.yaml'))) {
  const text = readFileSync(at(`../configs/${name}`), 'utf8')
  writeFileSync(
    at(`../dist/configs/${cacheFileName(text)}`),
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
  // The links take the place of a window of 16 MiB, which would stay resident in the server that unpacks the archive.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 20 }
  writeFileSync(
    templateFile(),
    brotliCompressSync(withTemplateLinks(Buffer.from(await dump.arrayBuffer())), { params }),
  )
}

/** Little of these packages is used: that is shipped as a bundle, and nobody installs the rest. */
async function bundleLargePackages() {
  const folder = at('../dist/packages')
  if (!existsSync(folder))
    await build({
      entryPoints: Object.entries(largePackages).map(([path, out]) => ({ in: path, out })),
      outdir: folder,
      ...asModules,
      external: ['postgres'],
      plugins: [withoutEngine],
      logLevel: 'error',
    })
  writeFileSync(join(folder, 'licenses.md'), licensesOf(['drizzle-orm', '@scalar/openapi-upgrader']))
  for (const user of ['../dist/storage', '../dist/sources/bundle/openapi'].map(at))
    for (const name of readdirSync(user, { recursive: true }).filter((file) => file.endsWith('.js'))) {
      const file = join(user, name)
      const text = readFileSync(file, 'utf8')
      const here = relative(dirname(file), folder)
      const bundled = text.replaceAll(/ from '([^'.][^']*)'/g, (line, path) =>
        isLarge.test(path) ? ` from '${here}/${largePackages[path]}.js'` : line,
      )
      if (bundled !== text) writeFileSync(file, bundled)
    }
}

/** The licenses of packages, in the form of those of the console. */
function licensesOf(names) {
  const texts = names.map((name) => {
    const folder = at(`../node_modules/${name}`)
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = join(folder, 'LICENSE')
    return `## ${name} - ${version} (${license})\n\n${existsSync(file) ? readFileSync(file, 'utf8') : ''}`
  })
  return `# Licenses of bundled packages\n\n${texts.join('\n')}`
}

/** Modules whose source was moved or deleted: the compiler leaves them. */
function removeStale() {
  // The modules of an earlier build import the query builder from there.
  const earlier = at('../dist/query-builder')
  if (existsSync(earlier)) {
    rmSync(earlier, { recursive: true })
    buildAgain()
  }
  const made = /^(?:bundle|packages|configs|empty-database|web)\//
  for (const name of readdirSync(at('../dist'), { recursive: true })) {
    const source = name.replace(/(?:\.d)?\.[jt]s$/, '.ts')
    if (/\.[jt]s$/.test(name) && !made.test(name) && !existsSync(at(`../src/${source}`))) rmSync(at(`../dist/${name}`))
  }
}

/** A program that loads a few dozen files starts sooner than one that loads hundreds (decision 27). */
async function bundlePrograms() {
  const folder = at('../dist/bundle')
  const source = at('../src')
  const programs = ['app/main', 'app/launcher/launcher-process']
  const { outputFiles } = await build({
    entryPoints: programs.map((path) => ({ in: `${source}/${path}.ts`, out: basename(path) })),
    outdir: folder,
    ...asModules,
    packages: 'external',
    plugins: [{ name: 'locations', setup: keepLocations }],
    logLevel: 'error',
    write: false,
  })
  // A program that runs may still load its parts: only what changed is written.
  mkdirSync(folder, { recursive: true })
  const written = new Set(outputFiles.map(({ path }) => basename(path)))
  for (const name of readdirSync(folder)) if (!written.has(name)) rmSync(join(folder, name))
  for (const { path, text } of outputFiles)
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
  for (const path of programs) {
    const target = relative(dirname(at(`../dist/${path}.js`)), `${folder}/${basename(path)}.js`)
    writeFileSync(at(`../dist/${path}.js`), `#!/usr/bin/env node\nimport '${target}'\n`)
  }
}

/** Each module finds the files beside it where the compiler put it, and large packages where they were bundled. */
function keepLocations(bundler) {
  const source = at('../src')
  bundler.onResolve({ filter: isLarge }, ({ path }) => ({
    path: `../packages/${largePackages[path]}.js`,
    external: true,
  }))
  // Fault tests set their hook in the module that the compiler wrote.
  bundler.onResolve({ filter: /\/fault-points\.ts$/ }, () => ({ path: '../rules/fault-points.js', external: true }))
  bundler.onLoad({ filter: /\.ts$/ }, ({ path }) => {
    const text = readFileSync(path, 'utf8')
    if (!path.startsWith(source) || !text.includes('import.meta.url')) return undefined
    const location = `new URL('../${relative(source, path).replace(/\.ts$/, '.js')}', import.meta.url).href`
    return { loader: 'ts', contents: text.replaceAll('import.meta.url', location) }
  })
}

/** Types that were not public before were removed by an earlier build, and the compiler writes only what changed. */
function buildAgain() {
  rmSync(at('../dist/.tsbuildinfo'), { force: true })
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: at('..'), stdio: 'inherit' })
  process.exit(status ?? 1)
}

/** Programs see the types that the library's own reach; the query builder stays inside. */
function keepPublicTypes() {
  const database = at('../dist/storage/database.d.ts')
  const text = readFileSync(database, 'utf8')
  const opaque = text
    .replace(/^import type .*'(?:drizzle-orm\/.*|\.\/schema\.[jt]s)';?\n/gm, '')
    .replace(/export type Db = .*;/, 'export type Db = object;')
  writeFileSync(database, opaque)
  const kept = new Set()
  const keep = (file) => {
    if (kept.has(file)) return
    kept.add(file)
    if (!existsSync(file)) buildAgain()
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"](\.[^'"]+)\.[jt]s['"]/g))
      keep(join(dirname(file), `${path}.d.ts`))
  }
  for (const entry of ['index', 'surfaces/client/index']) keep(at(`../dist/${entry}.d.ts`))
  const all = readdirSync(at('../dist'), { recursive: true }).filter((file) => file.endsWith('.d.ts'))
  for (const file of all) if (!kept.has(at(`../dist/${file}`))) rmSync(at(`../dist/${file}`))
}
