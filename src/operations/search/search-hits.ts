import * as z from 'zod'
import type { TokenCounter } from '../../base/tokens.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { type CatalogHit, toSummary } from '../../catalog/index.ts'
import { Readiness, unlessReady } from '../../contract/catalog.ts'
import { Isolation } from '../../contract/run.ts'
import { Explanation, maxShortDescription, SearchMode } from '../../contract/search.ts'
import { cutLine } from '../../rules/cut-text.ts'
import { toFullId } from '../../rules/tool-id.ts'
/** The level of detail of a hit. */
export const SearchLevel = z.enum(['line', 'summary', 'schema'])
export type SearchLevel = z.infer<typeof SearchLevel>

/** One hit: enough to choose, and at level `schema` enough to call. */
export const SearchHit = z.object({
  id: z.string(),
  name: z.string(),
  /** The id to call it by, if several tools have its name. */
  callAs: z.string().optional(),
  namespace: z.string().optional(),
  shortDescription: z.string(),
  /** The probability that the tool is relevant, from 0 to 1. */
  score: z.number(),
  scoreType: SearchMode,
  /** Present only if the tool cannot be called now. */
  readiness: Readiness.optional(),
  /** The isolation level, set by servers for tools that are processes. */
  isolation: Isolation.optional(),
  /** The call in short notation: `git_log(max_count?: integer = 10)`. */
  signature: z.string().optional(),
  category: z.string().nullable().optional(),
  /** The same text as `shortDescription`, under the name that other clients expect. */
  summary: z.string().optional(),
  tags: z.array(z.string()).optional(),
  /** Media types of input and output, if the tool declares them. */
  inputModes: z.array(z.string()).optional(),
  outputModes: z.array(z.string()).optional(),
  securitySummary: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), z.unknown()).optional(),
  explanation: Explanation.optional(),
  /** The number of tokens of the definition, where it was requested. */
  tokens: z.int().optional(),
})
export type SearchHit = z.infer<typeof SearchHit>

/** A found tool, before its level of detail is chosen. */
export interface Candidate extends CatalogHit {
  readonly explanation: Explanation | undefined
  readonly sharesName: boolean
  readonly isolation?: Isolation | undefined
}

interface Wish {
  readonly level?: SearchLevel | null | undefined
  readonly budgetTokens?: number | null | undefined
}

/** The default token budget of a response. */
const usualBudget = 400
const maxLine = 60

/** The token budget of the hits of a response. */
export const hitBudget = ({ budgetTokens, level }: Wish): number =>
  budgetTokens ?? (level == null ? usualBudget : Number.POSITIVE_INFINITY)

/** A hit at the leanest level. */
export function toLeanHit(hit: SearchHit): SearchHit {
  const { id, name, callAs, shortDescription, score, scoreType, readiness, isolation, explanation } = hit
  return {
    id,
    name,
    ...(callAs === undefined ? {} : { callAs }),
    shortDescription: cutLine(shortDescription, maxLine),
    score,
    scoreType,
    ...(readiness === undefined ? {} : { readiness }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(explanation === undefined ? {} : { explanation }),
  }
}

/** The tools at the richest level at which all fit the budget, or as many as fit at the leanest. */
export async function fitHitsToBudget(
  candidates: readonly Candidate[],
  wish: Wish,
  { count, signal }: { readonly count: TokenCounter; readonly signal?: AbortSignal | undefined },
) {
  const budget = hitBudget(wish)
  // Schemas are included only on request, or if the caller set a budget for them.
  const lean: readonly ShownLevel[] = ['summary', 'lean', 'line']
  const richest = wish.budgetTokens == null ? lean : (['schema', ...lean] as const)
  const levels: readonly ShownLevel[] = wish.level == null ? richest : [wish.level]
  const leanest = levels.at(-1)
  const turn = yieldTurns(signal)
  for (const level of levels) {
    const results: SearchHit[] = []
    let spentTokens = 0
    for (const candidate of candidates) {
      const hit = toHit(candidate, level)
      const cost = count(JSON.stringify(hit))
      if (spentTokens + cost > budget) break
      spentTokens += cost
      results.push(hit)
      await turn()
    }
    if (results.length === candidates.length || level === leanest) return { results, spentTokens }
  }
  return { results: [], spentTokens: 0 }
}

/** `lean` is a summary without the fields that seldom decide which tool to call. */
type ShownLevel = SearchLevel | 'lean'

function toHit(candidate: Candidate, level: ShownLevel): SearchHit {
  const { id, tool, score, scoreType, readiness, explanation, sharesName, isolation } = candidate
  const { name, namespace, tags, inputModes, outputModes, securitySummary } = toSummary(tool)
  const shortDescription = cutLine(tool.summary ?? tool.description, level === 'line' ? maxLine : maxShortDescription)
  const fullId = sharesName ? toFullId(tool) : undefined
  const callAs = fullId === undefined ? {} : { callAs: fullId }
  const why = explanation === undefined ? {} : { explanation }
  const state = { ...unlessReady(readiness), ...(isolation === undefined ? {} : { isolation }) }
  const ranked = { score, scoreType, ...state, ...why }
  if (level === 'line') return { id, name, ...callAs, shortDescription, ...ranked }
  const signature = signatureOf(fullId ?? name, tool.inputSchema)
  const lean = { id, name, ...callAs, shortDescription, ...ranked, signature, category: tool.category ?? null }
  if (level === 'lean') return lean
  const summary = {
    ...lean,
    summary: shortDescription,
    ...(namespace === undefined ? {} : { namespace }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(inputModes.length === 0 ? {} : { inputModes }),
    ...(outputModes.length === 0 ? {} : { outputModes }),
    ...(securitySummary === undefined ? {} : { securitySummary }),
  }
  if (level === 'summary') return summary
  return { ...summary, tags, description: tool.description, inputSchema: tool.inputSchema }
}

interface Property {
  readonly type?: unknown
  readonly items?: Property
  readonly enum?: readonly unknown[]
  readonly default?: unknown
}

// Further optional arguments are counted, not listed: an agent that needs them requests the schema.
const maxOptional = 4

/** A tool and its arguments on one line, required ones first: `git_commit(message: string, all?: boolean, +3 optional)`. */
function signatureOf(name: string, schema: Readonly<Record<string, unknown>>): string {
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Property>>)
  const required = (schema.required ?? []) as readonly string[]
  const write = ([key, property]: (typeof properties)[0]) => {
    const fallback = property.default === undefined ? '' : ` = ${JSON.stringify(property.default)}`
    return `${key}${required.includes(key) ? '' : '?'}: ${typeOf(property)}${fallback}`
  }
  const optional = properties.filter(([key]) => !required.includes(key))
  const left = optional.length - maxOptional
  const parts = [
    ...properties.filter(([key]) => required.includes(key)).map(write),
    ...optional.slice(0, maxOptional).map(write),
    ...(left > 0 ? [`+${left} optional`] : []),
  ]
  return `${name}(${parts.join(', ')})`
}

function typeOf(property: Property): string {
  if (property.enum !== undefined) return property.enum.map((value) => JSON.stringify(value)).join('|')
  if (property.type === 'array') return `${property.items === undefined ? 'any' : typeOf(property.items)}[]`
  return typeof property.type === 'string' ? property.type : 'any'
}
