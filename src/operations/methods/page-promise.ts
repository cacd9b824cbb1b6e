/** A page that can be awaited, or iterated over together with the pages after it. */
export interface PagePromise<Page, Item> extends Promise<Page>, AsyncIterable<Item> {
  /** This page and those after it. */
  pages(): AsyncIterable<Page>
}

interface AnyPage {
  readonly items?: readonly unknown[]
  readonly results?: readonly unknown[]
  readonly nextCursor?: string | undefined
}

/** Adds iteration to the promise of a page; the next page is requested when its first item is. */
export function toPagePromise(
  first: Promise<unknown>,
  request: (cursor: string) => Promise<unknown>,
): PagePromise<unknown, unknown> {
  async function* pages(): AsyncGenerator<AnyPage> {
    const seen = new Set<string>()
    let page = (await first) as AnyPage
    yield page
    for (let cursor = page.nextCursor; cursor !== undefined && !seen.has(cursor); cursor = page.nextCursor) {
      seen.add(cursor)
      page = (await request(cursor)) as AnyPage
      yield page
    }
  }
  async function* items(): AsyncGenerator<unknown> {
    for await (const page of pages()) yield* page.items ?? page.results ?? []
  }
  return Object.assign(first, { pages, [Symbol.asyncIterator]: items })
}
