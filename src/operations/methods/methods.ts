import type * as z from 'zod'
import type { operations } from '../index.ts'
import type { RunEvent } from '../runs/follow.ts'
import { clientRoutes } from './routes.ts'

/** The options of one request, to a server or in this process. */
export interface MethodOptions {
  readonly signal?: AbortSignal | undefined
  readonly traceparent?: string | undefined
}

export type RouteName = keyof typeof clientRoutes
type OperationOf<Name extends string> = Extract<(typeof operations)[number], { readonly name: Name }>
export type OperationInput<Name extends RouteName> = z.input<OperationOf<Name>['input']>
export type OperationOutput<Name extends RouteName> = z.output<OperationOf<Name>['output']>

/** An input with only optional fields is itself optional. */
type MethodArguments<Input, Options> =
  Record<string, never> extends Input ? [input?: Input, options?: Options] : [input: Input, options?: Options]

/** The element of the array of an output that is a list; never for any other output. */
type ItemOf<Output> = Output extends { items: readonly (infer Item)[] }
  ? Item
  : Output extends { results?: readonly (infer Hit)[] | undefined; nextCursor?: string | undefined }
    ? Hit
    : never

type MethodResult<Output> = [ItemOf<Output>] extends [never] ? Promise<Output> : PagePromise<Output, ItemOf<Output>>

/** Operations on registered tools are methods of `tools`, beside search. */
type GroupOf<Name extends string> = Name extends `${infer Group}.${string}`
  ? Group extends 'registry'
    ? 'tools'
    : Group
  : never
type NamesIn<Group extends string> = { [Name in RouteName]: GroupOf<Name> extends Group ? Name : never }[RouteName]

/** The operations with a route, as methods: `tools.search`, `executions.get`. */
export type OperationMethods<Options extends MethodOptions> = {
  readonly [Group in GroupOf<RouteName>]: {
    readonly [Name in NamesIn<Group> as Name extends `${string}.${infer Method}` ? Method : never]: (
      ...args: MethodArguments<OperationInput<Name>, Options>
    ) => MethodResult<OperationOutput<Name>>
  }
}

/** The method of an execution that is not an operation. */
export interface FollowMethod {
  /** The events of an execution until it has ended. */
  follow(executionId: string, options?: Pick<MethodOptions, 'signal'>): AsyncIterable<RunEvent>
}

type Input = Readonly<Record<string, unknown>>

/** Makes the methods of all operations with a route; each result can be iterated over, where its type allows it. */
export function createMethods<Options extends MethodOptions>(
  send: (name: RouteName, input: Input, options: Options) => Promise<unknown>,
): OperationMethods<Options> {
  const groups: Record<string, Record<string, unknown>> = {}
  for (const name of Object.keys(clientRoutes) as RouteName[]) {
    const [group = '', method = ''] = name.replace(/^registry\./, 'tools.').split('.')
    groups[group] ??= {}
    groups[group][method] = (input: Input = {}, options = {} as Options) =>
      toPagePromise(send(name, input, options), (cursor) => send(name, { ...input, cursor }, options))
  }
  return groups as unknown as OperationMethods<Options>
}

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
function toPagePromise(
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
