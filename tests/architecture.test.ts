import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quick } from '../vitest.config.ts'
import { projectRoot } from './support/run-cli.ts'

const levels: Record<string, number> = {
  base: 0,
  diagnostics: 1,
  'http-client': 1,
  documents: 2,
  'json-schema': 3,
  contract: 4,
  rules: 5,
  catalog: 6,
  definitions: 6,
  versions: 6,
  search: 6,
  executors: 6,
  sources: 6,
  runs: 6,
  policy: 6,
  secrets: 6,
  storage: 6,
  telemetry: 6,
  operations: 7,
  surfaces: 8,
  app: 9,
}

// Packages that stand for an outside world: each is known in one folder only.
const drivers: Record<string, string> = {
  '@modelcontextprotocol/server': 'surfaces/mcp',
  '@modelcontextprotocol/client': 'executors/mcp',
  commander: 'surfaces/cli',
  yaml: 'documents',
  re2js: 'base',
  ajv: 'json-schema',
  'jsonc-parser': 'documents',
  'smol-toml': 'operations/clients',
  diff: 'versions',
  'prom-client': 'telemetry',
  '@opentelemetry/api': 'telemetry',
}
// Writing a draft with comments needs the document model that reading uses.
const exceptions = new Set(['yaml sources/cli/import-help'])

const src = join(projectRoot, 'src')
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.split(sep).join('/'))
const sources = files.filter((file) => !/\.(test|suite)\.ts$/.test(file))
const read = (file: string) => readFileSync(join(src, file), 'utf8')
const importsOf = (file: string) =>
  [...read(file).matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1] as string)

const loadedAtOnce = /^(?:import|export) (?!type)[^;'=]*? from '([^']+)'/gm

/** Everything that is loaded together with these files. */
function reachedFrom(...entries: readonly string[]): ReadonlySet<string> {
  const reached = new Set(entries)
  // A set that grows while it is iterated yields the new members, too.
  for (const file of reached)
    for (const [, path = ''] of file.endsWith('.ts') ? read(file).matchAll(loadedAtOnce) : [])
      reached.add(isLocal(path) ? targetOf(file, path) : path)
  return reached
}

const layerOf = (file: string) => file.split('/')[0] as string
const isLocal = (path: string) => path.startsWith('.')
const targetOf = (file: string, path: string) =>
  relative(src, resolve(src, dirname(file), path))
    .split(sep)
    .join('/')

function upward(file: string): string[] {
  return importsOf(file)
    .filter(isLocal)
    .map((path) => targetOf(file, path))
    .filter((target) => !allowed(file, target))
    .map((target) => `${file} -> ${target}`)
}

function allowed(file: string, target: string): boolean {
  const [from, to] = [layerOf(file), layerOf(target)]
  if (from === 'index.ts') return true
  if (from !== to) return (levels[to] ?? 10) < (levels[from] ?? -1)
  const kinds = ['executors', 'sources', 'surfaces']
  if (!kinds.includes(from)) return true
  const [kindFrom, kindTo] = [file.split('/')[1], target.split('/')[1]]
  // Wording that several surfaces share.
  if (from === 'surfaces' && kindTo === 'text') return true
  // Several kinds of tools are processes or ask addresses; what keeps those in bounds is shared.
  if (from === 'executors' && (kindTo === 'process' || kindTo === 'network')) return true
  if (from === 'executors' && kindTo === 'sandbox' && kindFrom !== 'process') return true
  return kindFrom === kindTo || !target.includes('/', from.length + 1) || (kindFrom ?? '').endsWith('.ts')
}

describe('architecture', () => {
  it('sees the code', () => {
    expect(sources.length).toBeGreaterThan(60)
    expect(sources.flatMap(importsOf).length).toBeGreaterThan(250)
    expect(importsOf('operations/runs/call-tool.ts')).toContain('./resolve-call.ts')
  })

  it('puts every file into a known layer', () => {
    expect(sources.filter((file) => file !== 'index.ts' && !(layerOf(file) in levels))).toEqual([])
  })

  it('lets imports point down only', () => {
    expect(sources.flatMap(upward)).toEqual([])
  })

  it('would notice an import that points up or sideways', () => {
    expect(allowed('base/errors.ts', 'contract/policy.ts')).toBe(false)
    expect(allowed('search/tool-index.ts', 'policy/index.ts')).toBe(false)
    expect(allowed('surfaces/cli/host.ts', 'surfaces/mcp/index.ts')).toBe(false)
    expect(allowed('operations/invoke.ts', 'policy/index.ts')).toBe(true)
  })

  it('knows each driver in one folder', () => {
    const strays = sources.flatMap((file) =>
      importsOf(file).flatMap((path) => {
        const driver = Object.keys(drivers).find((name) => path === name || path.startsWith(`${name}/`))
        if (driver === undefined || file.startsWith(`${drivers[driver]}/`)) return []
        return exceptions.has(`${driver} ${dirname(file)}`) ? [] : [`${file} -> ${path}`]
      }),
    )
    expect(strays).toEqual([])
  })

  it('keeps ToolIndex free of dependencies (FR-015)', () => {
    const own = ['search/tool-index.ts', 'base/substring-index.ts']
    const reached = own.flatMap(importsOf).filter((path) => !/^(\.\/|\.\.\/(base|contract|rules)\/)/.test(path))
    expect(reached).toEqual([])
  })

  it('starts the command line without schemas, and without any command', () => {
    const reached = reachedFrom('app/main.ts')
    expect(reached).toContain('surfaces/cli/create-program.ts')
    expect([...reached].filter((path) => path === 'zod' || path.includes('/commands/'))).toEqual([])
  })

  it('starts tooldex run without the parts that a search, a call or a registry needs', () => {
    const reached = [...reachedFrom('app/main.ts', 'surfaces/cli/commands/run.ts', 'app/run-stdio.ts')]
    expect(reached).toEqual(expect.arrayContaining(['surfaces/mcp/create-server.ts', 'executors/cli/cli-executor.ts']))
    const late = [
      /^(storage|catalog|telemetry|surfaces\/rest|sources\/bundle|operations\/(registry|runs))\//,
      /^executors\/(http|mcp|network|python|shell)\//,
      /^executors\/(process\/(run-process|containment)|sandbox\/(levels|probe-.*))\.ts$/,
      /^(base\/json-(schema|work)\b|contract\/(execution|registry|run)\.ts$)/,
      /^(operations\/(call-tool|search-tools|client\/remote-client)|search\/(index|search-engine|past-queries))\.ts$/,
    ]
    expect(reached.filter((path) => late.some((each) => each.test(path)))).toEqual([])
  })

  it('opens the registry for a command without the parts that run tools', () => {
    const reached = [...reachedFrom('app/open-own-registry.ts')]
    expect(reached).toContain('storage/migrate.ts')
    const late = [
      'runs/open-runs.ts',
      'runs/recorded-runs.ts',
      'operations/catalog/registry-feed.ts',
      'search/index.ts',
    ]
    expect(late.filter((path) => reached.includes(path))).toEqual([])
  })

  it('keeps files short', () => {
    const most = (file: string) => (file.includes('.test.') || file.includes('.suite.') ? 500 : 300)
    expect(files.filter((file) => read(file).split('\n').length > most(file))).toEqual([])
  })

  it('keeps folders small', () => {
    const counts = new Map<string, number>()
    for (const file of sources) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
    expect([...counts].filter(([, count]) => count > 25)).toEqual([])
  })

  it('keeps the import of help texts within its budget (decision 26)', () => {
    const own = sources.filter((file) => file.startsWith('sources/cli/import-help/') && !file.includes('.test.'))
    expect(own.length).toBeGreaterThan(0)
    const lines = own.map((file) => read(file).trimEnd().split('\n').length)
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(2600)
  })

  it('has no default exports, no export *, no folders of odds and ends', () => {
    expect(sources.filter((file) => /^export (default|\*)/m.test(read(file)))).toEqual([])
    expect(sources.filter((file) => /(^|\/)(utils?|helpers?|common|manager|lib)(\/|\.ts)/.test(file))).toEqual([])
  })
})

it('starts no server, PostgreSQL, browser or command in the files of test:quick', () => {
  const starts =
    /\b(startServer|startPlainServer|startWorker|startPostgres|sharedPostgres|openBrowser|runCli|connect|onServer)\(/
  const named = quick.filter((path) => !path.includes('*'))
  const starting = named.filter((path) => starts.test(readFileSync(join(projectRoot, path), 'utf8')))
  expect(starting).toEqual([])
})
