import { yieldTurns } from '../../base/yield-turns.ts'
import type { Embedder } from '../../search/encoder.ts'
import { SearchEngine } from '../../search/search-engine.ts'
import { type LintFinding, type LintTool, lintLimits } from './finding.ts'

/** Tools that search does not find by any of their example requests. */
export async function checkExamples(
  tools: readonly LintTool[],
  loadEmbedder: () => Embedder | undefined,
  signal?: AbortSignal,
): Promise<readonly LintFinding[]> {
  const findings: LintFinding[] = []
  const rest = yieldTurns(signal)
  const find = await createFinder(tools, loadEmbedder, rest)
  for (const tool of tools) {
    const misses = tool.exampleRequests.flatMap((request) => {
      const found = find(request)
      return found.includes(tool.toolName) ? [] : [{ request, instead: found[0] }]
    })
    findings.push(...toFinding(tool, misses))
    await rest()
  }
  return findings
}

/** Search without the examples: an unforeseen request can only match the rest of the tool. */
async function createFinder(
  tools: readonly LintTool[],
  loadEmbedder: () => Embedder | undefined,
  rest: () => Promise<void> | undefined,
) {
  const engine = new SearchEngine(loadEmbedder)
  for (const { toolName, cliName, ...tool } of tools) {
    engine.add({ ...tool, id: toolName, name: toolName, namespace: cliName, exampleRequests: [] })
    await rest()
  }
  return (query: string): readonly string[] =>
    engine.search({ query, mode: 'hybrid', limit: lintLimits.rank }).hits.map((hit) => hit.tool.id)
}

interface Miss {
  readonly request: string
  readonly instead: string | undefined
}

function toFinding({ toolName: tool, exampleRequests }: LintTool, misses: readonly Miss[]): LintFinding[] {
  const [first] = misses
  if (first === undefined || misses.length < exampleRequests.length) return []
  const which = `${JSON.stringify(first.request)} finds ${first.instead ?? 'nothing'} first`
  const message = `not in the first ${lintLimits.rank} for ${misses.length} of ${exampleRequests.length} example requests: ${which}`
  const hint = 'Use the words of the request in the description, or make the request more specific.'
  return [{ rule: 'not-found', severity: 'warning', tool, message, hint }]
}
