import type * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { loadTokenCounter, type TokenCounter } from '../../base/tokens.ts'
import { toFullId } from '../../rules/tool-id.ts'
import { mergeFacets } from '../search/facets.ts'
import { hitBudget, type SearchHit, toLeanHit } from '../search/search-hits.ts'
import { type searchTools, withSpentTokens } from '../search/search-tools.ts'
import { betterFit, maxNearest, verdictOf } from '../search/verdict.ts'

type Answer = z.output<typeof searchTools.output>

/** One of two searches; the tools of the first have precedence over those of the second. */
export type Search = (input: Record<string, unknown>) => Promise<Answer>

/** Two searches as one. */
interface SearchPair {
  readonly first: Search
  readonly second: Search
  /** The id of the tool that a name has in the first search, where it is available without a search. */
  readonly idInFirst?: ((name: string) => string | undefined) | undefined
}

interface Page {
  readonly response: Answer
  readonly position: PairPosition
}

const defaultLimit = 10
const nothing: Answer = { mode: 'search', results: [], spentTokens: 0, omitted: 0 }

/** Runs two searches and merges their results: the best of both, within one limit, one budget and one cursor. */
export async function mergeSearch(pair: SearchPair, input: Record<string, unknown>): Promise<Answer> {
  const { cursor, offset, ...query } = input
  if (offset != null)
    throw new TooldexError('INPUT_INVALID', 'A search of two catalogs has no offset.', { hint: 'Use the cursor.' })
  const positions = readCursorPair(cursor)
  const [first, second] = await Promise.all([
    fetchPage(pair.first, query, positions[0]),
    fetchPage(pair.second, query, positions[1]),
  ])
  const count = await loadTokenCounter()
  if (first.response.mode === 'summary' || second.response.mode === 'summary')
    return withSpentTokens(count, mergeOverviews(first.response, second.response, input.limit))
  const ranked = rank(first.response, withoutShadowed(pair, first.response, second.response), String(input.query ?? ''))
  const fit = betterFit(first.response.fit, second.response.fit)
  const limit = typeof input.limit === 'number' ? input.limit : defaultLimit
  const results = fitBudget(ranked.slice(0, fit === 'none' ? Math.min(limit, maxNearest) : limit), input, count)
  const taken = [takenOf(first, results), takenOf(second, results)] as const
  const next: CursorPair = [
    await positionAfter(pair.first, query, first, taken[0]),
    await positionAfter(pair.second, query, second, taken[1]),
  ]
  const hasMore = results.length > 0 && next.some((position) => position !== 'end')
  return withSpentTokens(count, {
    mode: 'search',
    results: results.map(({ hit }) => hit),
    omitted: left(first, taken[0]) + left(second, taken[1]),
    ...(hasMore ? { nextCursor: writeCursorPair(next) } : {}),
    ...verdictOf(fit),
    ...mergeRest(first.response, second.response),
  })
}

async function fetchPage(search: Search, query: Record<string, unknown>, position: PairPosition): Promise<Page> {
  if (position === 'end') return { response: nothing, position }
  return { response: await search(position === 'start' ? query : { ...query, cursor: position.cursor }), position }
}

/** A hit as found, and as returned. */
interface Ranked {
  readonly found: SearchHit
  readonly hit: SearchHit
}

/**
 * Removes tools of the second search whose id belongs to the first; a tool that only shares a name gets its id as `callAs`.
 */
function withoutShadowed({ idInFirst }: SearchPair, first: Answer, second: Answer): readonly Ranked[] {
  const names = new Map((first.results ?? []).flatMap(({ id, name }) => [[name, id] as const, [id, id] as const]))
  const idOf = (name: string) => names.get(name) ?? idInFirst?.(name)
  return (second.results ?? []).flatMap((found): readonly Ranked[] => {
    if (idOf(callableId(found)) !== undefined) return []
    const hit = idOf(found.name) === undefined ? found : { ...found, callAs: callableId(found) }
    return [{ found, hit }]
  })
}

/** An id that cannot be a name of the first search: always with a namespace. */
const callableId = ({ id, name }: SearchHit): string => (id === name ? toFullId({ name }) : id)

/** Sorts by score, an exact name first; ties keep the order of the searches. */
function rank(first: Answer, second: readonly Ranked[], query: string): readonly Ranked[] {
  const all = [...(first.results ?? []).map((found): Ranked => ({ found, hit: found })), ...second]
  const isNamed = ({ found }: Ranked) => (found.name === query.trim() || found.id === query.trim() ? 1 : 0)
  return all.sort((a, b) => isNamed(b) - isNamed(a) || b.found.score - a.found.score)
}

/** The hits that fit the budget; if not all do, the hits that fit at the leanest level. */
function fitBudget(ranked: readonly Ranked[], input: Record<string, unknown>, count: TokenCounter) {
  const budget = hitBudget(input)
  const whole = takeUpTo(ranked, budget, count)
  if (whole.length === ranked.length || input.level != null) return whole
  return takeUpTo(
    ranked.map(({ found, hit }) => ({ found, hit: toLeanHit(hit) })),
    budget,
    count,
  )
}

function takeUpTo(ranked: readonly Ranked[], budget: number, count: TokenCounter): readonly Ranked[] {
  const results: Ranked[] = []
  let spent = 0
  for (const each of ranked) {
    const cost = count(JSON.stringify(each.hit))
    if (spent + cost > budget) break
    spent += cost
    results.push(each)
  }
  return results
}

/** The number of consumed hits of a page: up to the last returned one, shadowed ones included. */
function takenOf({ response: { results = [] } }: Page, returned: readonly Ranked[]): number {
  const used = new Set(returned.map(({ found }) => found))
  return results.findLastIndex((hit) => used.has(hit)) + 1
}

const left = ({ response: { results = [], omitted } }: Page, taken: number): number => omitted + results.length - taken

/** The position of a search after its consumed hits; if they are not the whole page, a page of that length is requested. */
async function positionAfter(
  search: Search,
  query: Record<string, unknown>,
  page: Page,
  taken: number,
): Promise<PairPosition> {
  const { response, position } = page
  if (position === 'end') return 'end'
  if (taken === 0 && (response.results ?? []).length > 0) return position
  const exact =
    taken === (response.results ?? []).length
      ? response
      : (await fetchPage(search, { ...query, limit: taken }, position)).response
  return exact.nextCursor === undefined ? 'end' : { cursor: exact.nextCursor }
}

function mergeOverviews(first: Answer, second: Answer, limit: unknown): Omit<Answer, 'spentTokens'> {
  const known = new Set((first.summary ?? []).map(({ name }) => name))
  const all = [...(first.summary ?? []), ...(second.summary ?? []).filter(({ name }) => !known.has(name))]
  const summary = all.slice(0, typeof limit === 'number' ? limit : all.length)
  const omitted = first.omitted + second.omitted + all.length - summary.length
  return { mode: 'summary', summary, omitted, ...mergeRest(first, second) }
}

function mergeRest(first: Answer, second: Answer): Partial<Answer> {
  const note = [first.note, second.note].filter((text) => text !== undefined).join(' ')
  const facets =
    first.facets && second.facets ? mergeFacets(first.facets, second.facets) : (first.facets ?? second.facets)
  const explained = [first.explained, second.explained].find((each) => each?.explanation !== undefined)
  return {
    ...(note === '' ? {} : { note }),
    ...(facets === undefined ? {} : { facets }),
    ...((explained ?? first.explained) === undefined ? {} : { explained: explained ?? first.explained }),
  }
}

/** The position of a search: its start, a cursor of its own, or its end. */
type PairPosition = 'start' | 'end' | { readonly cursor: string }

/** The positions of two merged searches. */
type CursorPair = readonly [first: PairPosition, second: PairPosition]

/** Encodes the positions of two searches as an opaque cursor. */
const writeCursorPair = (pair: CursorPair): string =>
  Buffer.from(
    JSON.stringify(pair.map((position) => (typeof position === 'string' ? position : [position.cursor]))),
  ).toString('base64url')

/** The positions in a cursor; both start without one. */
function readCursorPair(cursor: unknown): CursorPair {
  if (cursor == null || cursor === '') return ['start', 'start']
  const [first, second] = decode(String(cursor)).map(readPlace)
  if (first === undefined || second === undefined)
    throw new TooldexError('CURSOR_INVALID', 'The cursor cannot be read.')
  return [first, second]
}

function readPlace(written: unknown): PairPosition | undefined {
  if (written === 'start' || written === 'end') return written
  return Array.isArray(written) && typeof written[0] === 'string' ? { cursor: written[0] } : undefined
}

function decode(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
