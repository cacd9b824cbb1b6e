import type { TokenCounter } from '../../base/tokens.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { type LintFinding, type LintTool, lintLimits } from './finding.ts'

/** The token cost of all tools of one source. */
export interface SourceCost {
  readonly source: string
  readonly tools: number
  readonly tokens: number
}

/** Counts the tokens of each source, and reports costly tools and sources. */
export async function measureCosts(tools: readonly LintTool[], count: TokenCounter, signal?: AbortSignal) {
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
