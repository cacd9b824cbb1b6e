import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { projectRoot } from './support/run-cli.ts'
import { tempFolder } from './support/temp-folder.ts'

interface Packed {
  readonly files: readonly { readonly path: string }[]
  readonly unpackedSize: number
}

let packed: Packed
let paths: ReadonlySet<string>
beforeAll(() => {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error']
  const text = execFileSync('npm', words, { cwd: projectRoot, encoding: 'utf8', maxBuffer: 1 << 26 })
  packed = (JSON.parse(text) as [Packed])[0]
  paths = new Set(packed.files.map(({ path }) => path))
})

const isShipped = (path: string) => paths.has(path) || [...paths].some((each) => each.startsWith(`${path}/`))

it('ships what its documents link to', () => {
  const dead = [...paths]
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => {
      const text = readFileSync(join(projectRoot, path), 'utf8')
      const links = Array.from(text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g), ([, link = '']) => link)
      const local = links.filter((link) => !/^[a-z]+:/.test(link))
      const targets = local.map((link) => posix.normalize(posix.join(posix.dirname(path), link)).replace(/\/$/, ''))
      return targets.filter((target) => !isShipped(target)).map((target) => `${path}: ${target}`)
    })
  expect(paths.has('README.md')).toBe(true)
  expect(dead).toEqual([])
})

it('ships what runs, and neither snapshots, tests nor scripts that run at installation', () => {
  for (const path of [
    'dist/app/main.js',
    'model/cl100k_base.br',
    'model/encoder.bin',
    'migrations/meta/_journal.json',
    'docs/reference/examples.json',
    'dist/web/index.html',
    'dist/web/licenses.md',
    'dist/packages/licenses.md',
  ])
    expect(paths, path).toContain(path)
  const odd = [...paths].filter((path) =>
    /snapshot|\.test\.|\.suite\.|^tests\/|^scripts\/|^web\/|tsbuildinfo|web-inputs/.test(path),
  )
  expect(odd).toEqual([])
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { scripts: object }
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) expect(scripts).not.toHaveProperty(name)
})

it('declares types that need nothing but its own dependencies', () => {
  const { dependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const types = [...paths].filter((path) => path.endsWith('.d.ts'))
  expect(types).toContain('dist/index.d.ts')
  for (const path of types) {
    const text = readFileSync(join(projectRoot, path), 'utf8')
    for (const [, name = ''] of text.matchAll(/(?:from|import\()\s*['"]((?:@[^/'"]+\/)?[^./'"][^/'"]*)/g))
      expect(name.startsWith('node:') || name in dependencies, `${path}: ${name}`).toBe(true)
  }
})

it('has types for a program without Node, on pages too', () => {
  const folder = tempFolder()
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(projectRoot, join(folder, 'node_modules', 'tooldex'))
  const options = {
    lib: ['es2023', 'dom'],
    module: 'nodenext',
    target: 'es2023',
    types: [],
    strict: true,
    noEmit: true,
  }
  const program = `import { createClient } from 'tooldex/client'
    export const name: Promise<string> = createClient().tools.get({ idOrName: 'x' }).then((tool) => tool.name)`
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['program.mts'] }))
  writeFileSync(join(folder, 'program.mts'), program)
  const { stdout } = spawnSync(process.execPath, [join(projectRoot, 'node_modules/typescript/bin/tsc'), '-p', folder], {
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
})

it('takes less than 90 MB with everything it depends on', () => {
  const { packages } = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean; link?: boolean }>
  }
  const installed = Object.entries(packages).filter(
    // The web console is in the package as it was built; its sources are a workspace.
    ([path, { dev, optional, devOptional, link }]) =>
      path.startsWith('node_modules/') && !dev && !optional && !devOptional && !link,
  )
  const bytes = installed.map(([path]) => sizeOf(join(projectRoot, path)))
  expect(installed.length).toBeGreaterThan(10)
  expect(bytes.reduce((sum, each) => sum + each, packed.unpackedSize)).toBeLessThan(90e6)
})

/** The bytes of all files in a folder, without those of packages inside, which have entries of their own. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + sizeOf(path)
    return sum + (entry.isFile() ? statSync(path).size : 0)
  }, 0)
}
