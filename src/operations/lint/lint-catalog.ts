import * as z from 'zod'
import { BoundedMap } from '../../base/bounded-map.ts'
import { loadTokenCounter, type TokenCounter } from '../../base/tokens.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Catalog } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import { splitIdentifiers } from '../../search/tokenize.ts'
import type { LiveCatalog } from '../catalog/live-catalog.ts'
import { lazyBundledEncoder } from '../eval/bundled-encoder.ts'
import { defineOperation } from '../operation.ts'
import { readableNames } from '../search/tool-view.ts'
import { findNearDuplicates } from './find-near-duplicates.ts'
import { LintFinding, type LintTool, lintLimits, lintRules } from './finding.ts'
import { lintSchema } from './lint-schemas.ts'
import { lintStored } from './lint-stored.ts'
import { lintExamples, lintTexts } from './lint-texts.ts'

const Answer = z.object({
  findings: z.array(LintFinding),
  counts: z.object({ error: z.int(), warning: z.int(), info: z.int() }),
  tools: z.int(),
  /** Tokens of all definitions by source, costliest first. */
  sources: z.array(z.object({ source: z.string(), tools: z.int(), tokens: z.int() })),
  tokens: z.int(),
  /** From 0 to 100: the mean over all tools. */
  score: z.number(),
  summary: z.string(),
})
type Answer = z.infer<typeof Answer>

interface Linted {
  readonly tools: readonly LintTool[]
  readonly findings: readonly LintFinding[]
  readonly sources: Answer['sources']
}

// Linting thousands of tools takes seconds, so the result is cached for each set of visible tools.
const linted = new WeakMap<LiveCatalog, { readonly version: number; readonly results: Map<string, Linted> }>()
const maxResults = 20

/** The points that a finding subtracts from the hundred of its tool. */
const penalties = { error: 50, warning: 20, info: 5 }

/** Lints the catalog. */
export const lintCatalog = defineOperation({
  name: 'catalog.lint',
  summary: 'Lint the catalog: problems that make tools hard to find, to distinguish or to call, and their token cost.',
  scope: 'read',
  needs: ['catalog', 'registry?'],
  http: { method: 'get', path: '/lint', tag: 'catalog' },
  input: z.object({}),
  output: Answer,
  async handle(_, context) {
    const { catalog, signal } = context
    // Clients lint again right after they have saved the fix of a finding.
    await catalog.syncRegistry?.()
    const offered = await catalog.open()
    const names = await readableNames(context)
    const visible = names === undefined ? 'all' : JSON.stringify([...names].sort())
    const results = resultsOf(catalog, offered.version)
    const sees = ({ toolName }: LintTool) => names?.has(toolName) ?? true
    const result = results.get(visible) ?? (await lint(toLintTools(offered).filter(sees), signal))
    results.set(visible, result)
    return toAnswer(result, await lintStored(context))
  },
})

/** The cached results for the current tools. */
function resultsOf(catalog: LiveCatalog, version: number): Map<string, Linted> {
  const known = linted.get(catalog)
  if (known?.version === version) return known.results
  const results = new BoundedMap<string, Linted>(maxResults)
  linted.set(catalog, { version, results })
  return results
}

async function lint(tools: readonly LintTool[], signal: AbortSignal | undefined): Promise<Linted> {
  const loadEmbedder = lazyBundledEncoder()
  const turn = yieldTurns(signal)
  const costs = await measureCosts(tools, await loadTokenCounter(), signal)
  const each = await checkEach(tools, signal)
  await turn()
  const embedder = loadEmbedder()
  await turn()
  const findings = [
    ...each,
    ...ambiguousNames(tools),
    ...(await findNearDuplicates(tools, embedder, signal)),
    ...(await lintExamples(tools, loadEmbedder, signal)),
    ...costs.findings,
  ]
  return { tools, findings, sources: costs.sources }
}

function toAnswer({ tools, findings: found, sources }: Linted, stored: readonly LintFinding[]): Answer {
  const findings = [...stored, ...found].sort((a, b) => lintRules.indexOf(a.rule) - lintRules.indexOf(b.rule))
  const tokens = sources.reduce((sum, source) => sum + source.tokens, 0)
  const [score, counts] = [scoreOf(tools, findings), countSeverities(findings)]
  const counted = `${counts.error} error(s), ${counts.warning} warning(s), ${counts.info} note(s)`
  const summary = `${score} of 100: ${tools.length} tool(s), ${tokens} tokens, ${counted}`
  return { findings, counts, tools: tools.length, sources, tokens, score, summary }
}

/** The findings of rules for a single tool. */
async function checkEach(tools: readonly LintTool[], signal: AbortSignal | undefined): Promise<readonly LintFinding[]> {
  const rest = yieldTurns(signal)
  const findings: LintFinding[] = []
  for (const tool of tools) {
    findings.push(...lintSchema(tool), ...lintTexts(tool), ...checkName(tool))
    await rest()
  }
  return findings
}

/** The tools of configs, followed by those of the registry. */
function toLintTools(tools: Catalog): readonly LintTool[] {
  const all = tools.list().map(({ tool }) => tool)
  const registered = all.filter(({ source }) => source === 'registry')
  return [...all.filter(({ source }) => source !== 'registry'), ...registered].map(toLintTool)
}

const toLintTool = ({ name, namespace, source, description, inputSchema, ...tool }: CatalogTool): LintTool => ({
  toolName: name,
  cliName: namespace ?? 'registry',
  isRegistered: source === 'registry',
  description,
  inputSchema,
  category: tool.category ?? null,
  tags: [...tool.tags],
  exampleRequests: tool.exampleRequests ?? [],
})

/** The mean of the remaining points of each tool, so that the size of a catalog does not matter. */
function scoreOf(tools: readonly LintTool[], findings: readonly LintFinding[]): number {
  const lost = new Map<string, number>()
  for (const { tool, severity } of findings) lost.set(tool, (lost.get(tool) ?? 0) + penalties[severity])
  const left = tools.reduce((sum, { toolName }) => sum + Math.max(0, 100 - (lost.get(toolName) ?? 0)), 0)
  return tools.length === 0 ? 100 : Math.round((10 * left) / tools.length) / 10
}

function countSeverities(findings: readonly LintFinding[]) {
  const count = (severity: LintFinding['severity']) =>
    findings.filter((finding) => finding.severity === severity).length
  return { error: count('error'), warning: count('warning'), info: count('info') }
}

/** Names that clients truncate or reject. */
const checkName = ({ toolName }: LintTool): readonly LintFinding[] => [
  ...longName(toolName),
  ...rejectedCharacters(toolName),
]

function longName(tool: string): LintFinding[] {
  const length = Array.from(tool).length
  if (length <= lintLimits.nameLength) return []
  const message = `the name has ${length} characters; ${lintLimits.nameLength} leave room for a client's prefix`
  return [{ rule: 'long-name', severity: 'warning', tool, message, hint: 'Shorten the name.' }]
}

function rejectedCharacters(tool: string): LintFinding[] {
  const odd = [...new Set(Array.from(tool).filter((character) => !/[A-Za-z0-9_-]/.test(character)))]
  if (odd.length === 0) return []
  const message = `the name has ${odd.map((character) => JSON.stringify(character)).join(', ')}, which some clients reject`
  return [{ rule: 'odd-name', severity: 'warning', tool, message, hint: 'Use letters, digits, _ and - only.' }]
}

const maxListed = 20

/** Names made of the same words: `list_files`, `files_list`, `listFiles`. */
function ambiguousNames(tools: readonly LintTool[]): readonly LintFinding[] {
  const groups = new Map<string, string[]>()
  for (const { toolName } of tools) {
    const key = [...splitIdentifiers(toolName)].sort().join(' ')
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [toolName])
    else group.push(toolName)
  }
  return [...groups.entries()].flatMap(([key, [first = '', ...others]]): LintFinding[] => {
    if (key === '' || others.length === 0) return []
    const message = `is made of the same words as ${others.slice(0, maxListed).join(', ')}${others.length > maxListed ? ' and more' : ''}`
    const hint = 'Rename one of them after their difference.'
    return [{ rule: 'ambiguous-name', severity: 'warning', tool: first, message, hint }]
  })
}

/** The token cost of all tools of one source. */
export interface SourceCost {
  readonly source: string
  readonly tools: number
  readonly tokens: number
}

/** Counts the tokens of each source, and reports costly tools and sources. */
async function measureCosts(tools: readonly LintTool[], count: TokenCounter, signal?: AbortSignal) {
  const rest = yieldTurns(signal)
  const costs: { readonly tool: LintTool; readonly tokens: number }[] = []
  for (const tool of tools) {
    costs.push({ tool, tokens: count(definitionText(tool)) })
    await rest()
  }
  const totals = new Map<string, SourceCost>()
  for (const { tool, tokens } of costs) {
    const before = totals.get(tool.cliName) ?? { source: tool.cliName, tools: 0, tokens: 0 }
    totals.set(tool.cliName, { ...before, tools: before.tools + 1, tokens: before.tokens + tokens })
  }
  const sources = [...totals.values()].sort((a, b) => b.tokens - a.tokens)
  return { sources, findings: [...costs.flatMap(costlyTool), ...sources.flatMap(costlySource)] }
}

const definitionText = ({ toolName: name, description, inputSchema }: LintTool): string =>
  JSON.stringify({ name, description, inputSchema })

function costlyTool({ tool: { toolName: tool }, tokens }: { tool: LintTool; tokens: number }): LintFinding[] {
  if (tokens <= lintLimits.toolTokens) return []
  const message = `its definition takes ${tokens} tokens`
  return [{ rule: 'costly-tool', severity: 'info', tool, message, hint: 'Shorten its texts, or split it.' }]
}

function costlySource({ source, tools, tokens }: SourceCost): LintFinding[] {
  if (tokens <= lintLimits.sourceTokens) return []
  const message = `its ${tools} tools take ${tokens} tokens when all are listed`
  const hint = 'Let clients search instead of listing all, or hide tools with a policy.'
  return [{ rule: 'costly-source', severity: 'info', tool: source, message, hint }]
}
