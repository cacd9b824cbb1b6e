// Builds the web console into dist/web, if its sources changed since the last time.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

// Tests build with another NODE_ENV, and would get the development build of React.
process.env.NODE_ENV = 'production'
const { build, createLogger } = await import('vite')

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'dist', 'web')
const stampFile = join(root, 'dist', '.web-inputs.json')
const own = ['web', 'scripts/build-web.mjs', 'package-lock.json']

const filesIn = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path).flatMap((name) => (name === 'node_modules' ? [] : filesIn(join(path, name))))
    : [path]

/** The hash of all inputs: our files, and the modules outside of them that the last build read. */
function hashOf(modules) {
  const hash = createHash('sha256')
  const files = [...own.flatMap((path) => filesIn(join(root, path))), ...modules.map((path) => join(root, path))]
  for (const file of files.sort())
    hash.update(`${relative(root, file)}\0`).update(existsSync(file) ? readFileSync(file) : '')
  return hash.digest('hex')
}

function isCurrent() {
  if (!existsSync(stampFile) || !existsSync(join(target, 'index.html'))) return false
  const { modules, hash } = JSON.parse(readFileSync(stampFile, 'utf8'))
  return hash === hashOf(modules)
}

if (!isCurrent()) {
  // Tests build, too, and would get the libraries as they are for development.
  process.env.NODE_ENV = 'production'
  // A warning is a fault: a module of the server in the console, for example, is only a warning.
  const warnings = []
  const customLogger = { ...createLogger('warn'), warn: (text) => warnings.push(text) }
  const { output } = await build({ configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn', customLogger })
  if (warnings.length > 0) {
    process.stderr.write(`The build of the web console has warnings. Fix them:\n${warnings.join('\n')}\n`)
    process.exit(1)
  }
  const modules = output
    .flatMap((chunk) => chunk.moduleIds ?? [])
    .map((id) => relative(root, id).split(sep).join('/'))
    .filter((path) => path.startsWith('src/'))
  const assets = join(target, 'assets')
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
  for (const name of readdirSync(assets).filter((each) => /\.(?:js|css|svg)$/.test(each))) {
    const bytes = readFileSync(join(assets, name))
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes, { params }))
    writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }))
    rmSync(join(assets, name))
  }
  writeFileSync(stampFile, JSON.stringify({ modules, hash: hashOf(modules) }))
}
