import { mapStrings } from '../../base/json-values.ts'
import type {
  OfferMethod,
  OfferResult,
  UpstreamOffers,
  UpstreamRequest,
  UpstreamServer,
} from '../../contract/mcp-server.ts'
import type { Upstreams } from './upstreams.ts'

// A list is read from its server at most once in this time.
const lifeMs = 60_000
// One server that does not respond must not delay the lists of the others for longer.
const listMs = 10_000
const maxPages = 20
const maxItems = 1000

/** The keys of items in the results of lists. */
const itemKeys: Readonly<Partial<Record<OfferMethod, string>>> = {
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
}

interface CachedList {
  readonly until: number
  readonly result: Promise<OfferResult | undefined>
}

/** The prompts and resources of upstreams; lists are complete and shared for a while. */
export class Offers implements UpstreamOffers {
  readonly #upstreams: Upstreams
  readonly #redactorsOf: (server: string) => readonly ((text: string) => string)[]
  readonly #lists = new Map<string, CachedList>()

  constructor(upstreams: Upstreams, redactorsOf: (server: string) => readonly ((text: string) => string)[]) {
    this.#upstreams = upstreams
    this.#redactorsOf = redactorsOf
  }

  servers(): readonly UpstreamServer[] {
    const offered = [...this.#upstreams.servers].filter(([, { passThrough }]) => passThrough)
    const named = offered.map(([name, { namespace = toNamespace(name) }]) => ({ name, namespace }))
    return named.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  request(server: string, method: OfferMethod, request: UpstreamRequest): Promise<OfferResult | undefined> {
    const key = itemKeys[method]
    if (key === undefined) return this.#send(server, method, request)
    // A request that may not start the server must not fail one that may.
    const id = `${server} ${method} ${request.mayStart ?? true}`
    const known = this.#lists.get(id)
    if (known !== undefined && known.until > performance.now()) return known.result
    // The list is shared, so that no caller may cancel it.
    const result = this.#readAll(server, method, key, request.mayStart)
    this.#lists.set(id, { until: performance.now() + lifeMs, result })
    result.catch(() => this.#lists.delete(id))
    return result
  }

  /** Discards the lists, because the definitions of servers changed. */
  forget(): void {
    this.#lists.clear()
  }

  async #send(server: string, method: OfferMethod, request: UpstreamRequest): Promise<OfferResult | undefined> {
    const result = await this.#upstreams.of(server)?.request(method, request)
    const redactors = this.#redactorsOf(server)
    const redact = (text: string) => redactors.reduce((redacted, each) => each(redacted), text)
    return result === undefined ? undefined : (mapStrings(result, redact) as OfferResult)
  }

  async #readAll(
    server: string,
    method: OfferMethod,
    key: string,
    mayStart: boolean | undefined,
  ): Promise<OfferResult | undefined> {
    const items: unknown[] = []
    let cursor: unknown
    const signal = AbortSignal.timeout(listMs)
    for (let page = 0; page < maxPages && items.length < maxItems; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const result = (await this.#send(server, method, { params, signal, mayStart })) as
        | Record<string, unknown>
        | undefined
      if (result === undefined) return undefined
      items.push(...((result[key] as readonly unknown[] | undefined) ?? []))
      cursor = result.nextCursor
      if (cursor === undefined) break
    }
    return { [key]: items.slice(0, maxItems) }
  }
}

/** A namespace is also the beginning of the scheme of URIs, which has fewer characters than names of servers. */
const toNamespace = (name: string): string => name.replaceAll(/[^A-Za-z0-9.-]/g, '-').replace(/^(?=[^A-Za-z])/, 'x-')
