import { hasInvisible, withoutInvisible } from '../../base/invisible-characters.ts'
import { isObject, type JsonObject, sameJson } from '../../base/json-values.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { readSchemaParameters, type SchemaParameters } from '../../json-schema/read-parameters.ts'
import { findSuspiciousIn } from '../../rules/suspicious-text.ts'
import type { Embedder } from '../../search/encoder.ts'
import { SearchEngine } from '../../search/search-engine.ts'
import { splitIdentifiers } from '../../search/tokenize.ts'
import { type LintFinding, type LintTool, lintLimits } from './finding.ts'

/** Checks the texts that a model reads to choose and call a tool: descriptions of the tool and its arguments. */
export function lintTexts(tool: LintTool): readonly LintFinding[] {
  const parameters = readSchemaParameters(tool.inputSchema)
  return [
    ...description(tool),
    ...suspiciousTexts(tool),
    ...undescribed(tool, parameters),
    ...manyArguments(tool, parameters),
  ]
}

function description({ toolName: tool, description: text }: LintTool): LintFinding[] {
  const hint = 'State in one sentence what it does and what it returns.'
  const words = splitIdentifiers(text).length
  if (words === 0) {
    return [{ rule: 'missing-description', severity: 'error', tool, message: 'has no description', hint }]
  }
  if (text.trim().length >= lintLimits.descriptionLength && words >= lintLimits.descriptionWords) return []
  const message = `${JSON.stringify(text)} is too short to choose the tool by`
  return [{ rule: 'short-description', severity: 'warning', tool, message, hint }]
}

function suspiciousTexts(tool: LintTool): LintFinding[] {
  const hint = 'Ask its author for the reason; do not offer it to agents that you do not watch.'
  const { toolName, description: text, inputSchema } = tool
  const found = findSuspiciousIn({ description: text, inputSchema })
  const fix = tool.isRegistered && found.length > 0 ? fixHidden(tool) : undefined
  const left = fix && findSuspiciousIn({ description: text, inputSchema, ...fix.changes })
  return found.map((sign) => ({
    rule: 'suspicious-text',
    severity: 'warning',
    tool: toolName,
    message: sign,
    hint,
    ...(fix === undefined || left?.includes(sign) ? {} : { fix }),
  }))
}

function undescribed({ toolName: tool }: LintTool, { properties }: SchemaParameters): LintFinding[] {
  const names = [...properties].filter(([, property]) => !hasDescription(property))
  if (names.length === 0) return []
  const message = `no description for ${names.map(([name]) => name).join(', ')}`
  const hint = 'Describe each argument, with an example if its format matters.'
  return [{ rule: 'undescribed-arguments', severity: 'warning', tool, message, hint }]
}

function manyArguments({ toolName: tool }: LintTool, { properties }: SchemaParameters): LintFinding[] {
  const count = properties.size
  if (count <= lintLimits.arguments) return []
  const message = `takes ${count} arguments`
  return [
    { rule: 'many-arguments', severity: 'info', tool, message, hint: 'Remove rarely used ones, or split the tool.' },
  ]
}

const hasDescription = ({ description: text }: JsonObject): boolean => typeof text === 'string' && text.trim() !== ''

/** Tools that search does not find by any of their example requests. */
export async function lintExamples(
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

type Fix = NonNullable<LintFinding['fix']>

/** A value with every text changed, keys included. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), mapTexts(each, change)]))
}

/** Removes hidden characters from the texts that a model reads; undefined if joiners remain, which languages and emoji need. */
function fixHidden({ description, inputSchema }: LintTool): Fix | undefined {
  const after = { description: withoutInvisible(description), inputSchema: mapTexts(inputSchema, withoutInvisible) }
  if (hasInvisible(JSON.stringify(after))) return undefined
  const before: Readonly<Record<string, unknown>> = { description, inputSchema }
  const changes = Object.entries(after).filter(([name, value]) => !sameJson(value, before[name]))
  return changes.length === 0
    ? undefined
    : { title: 'Remove the hidden characters', changes: Object.fromEntries(changes) }
}
