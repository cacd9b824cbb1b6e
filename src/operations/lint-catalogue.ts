import * as z from 'zod'
import { loadTokenCounter } from '../base/tokens.ts'
import { lazyEncoder } from './eval/bundled-encoder.ts'
import { checkExamples } from './lint/check-examples.ts'
import { checkNames } from './lint/check-names.ts'
import { checkSchemas } from './lint/check-schemas.ts'
import { checkTexts } from './lint/check-texts.ts'
import { findDuplicates } from './lint/find-duplicates.ts'
import { Finding, type LintTool, lintRules } from './lint/finding.ts'
import { measureCosts } from './lint/measure-costs.ts'
import type { CatalogueSnapshot } from './live-catalogue.ts'
import { defineOperation } from './operation.ts'

/** What a finding takes from the hundred points of its tool. */
const penalties = { error: 50, warning: 20, info: 5 }

/** Judge the catalogue: can each tool be found, told from the others, and called? */
export const lintCatalogue = defineOperation({
  name: 'catalogue.lint',
  summary: 'Judge the catalogue: what makes tools hard to find, to tell apart or to call, and what they cost.',
  scope: 'read',
  input: z.object({}),
  output: z.object({
    findings: z.array(Finding),
    counts: z.object({ error: z.int(), warning: z.int(), info: z.int() }),
    tools: z.int(),
    /** Tokens of all definitions, by source, the costliest first. */
    sources: z.array(z.object({ source: z.string(), tools: z.int(), tokens: z.int() })),
    tokens: z.int(),
    /** From 0 to 100: the mean over all tools. */
    score: z.number(),
    summary: z.string(),
  }),
  async handle(_, { catalogue, signal }) {
    const tools = toLintTools(catalogue.current())
    const loadEmbedder = lazyEncoder()
    const costs = measureCosts(tools, await loadTokenCounter())
    const findings = [
      ...checkSchemas(tools),
      ...checkTexts(tools),
      ...checkNames(tools),
      ...findDuplicates(tools, loadEmbedder()),
      ...(await checkExamples(tools, loadEmbedder, signal)),
      ...costs.findings,
    ].sort((a, b) => lintRules.indexOf(a.rule) - lintRules.indexOf(b.rule))
    const tokens = costs.sources.reduce((sum, source) => sum + source.tokens, 0)
    const [score, counts] = [scoreOf(tools, findings), countSeverities(findings)]
    const found = `${counts.error} error(s), ${counts.warning} warning(s), ${counts.info} note(s)`
    const summary = `${score} of 100: ${tools.length} tool(s), ${tokens} tokens, ${found}`
    return { findings, counts, tools: tools.length, sources: costs.sources, tokens, score, summary }
  },
})

const toLintTools = ({ entries, index }: CatalogueSnapshot): readonly LintTool[] =>
  entries.map((entry) => ({ ...entry, exampleRequests: index.get(entry.toolName)?.tool.exampleRequests ?? [] }))

/** The mean of what is left to each tool, so that a large catalogue is not worse for being large. */
function scoreOf(tools: readonly LintTool[], findings: readonly Finding[]): number {
  const lost = new Map<string, number>()
  for (const { tool, severity } of findings) lost.set(tool, (lost.get(tool) ?? 0) + penalties[severity])
  const left = tools.reduce((sum, { toolName }) => sum + Math.max(0, 100 - (lost.get(toolName) ?? 0)), 0)
  return tools.length === 0 ? 100 : Math.round((10 * left) / tools.length) / 10
}

function countSeverities(findings: readonly Finding[]) {
  const count = (severity: Finding['severity']) => findings.filter((finding) => finding.severity === severity).length
  return { error: count('error'), warning: count('warning'), info: count('info') }
}
