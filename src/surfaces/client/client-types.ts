import type * as z from 'zod'
import type { RestServer } from '../../http-client/send.ts'
import type { operations } from '../../operations/index.ts'
import type { RunEvent } from '../../operations/runs/follow.ts'
import type { PagePromise } from './page-promise.ts'
import type { clientRoutes } from './routes.ts'

/** The server of a client, and the limits of its requests. */
export interface ClientOptions extends Omit<RestServer, 'url'> {
  /** The URL of the server; in a browser, that of the page if absent. */
  readonly url?: string | undefined
  /** The number of attempts after the first, for requests that are safe to repeat; 3 if absent. */
  readonly retries?: number | undefined
  /** The time limit of each attempt; one minute, or the longer limit of an operation, if absent. */
  readonly timeoutMs?: number | undefined
}

/** The options of one request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly retries?: number | undefined
  /** Requests with the same key run once; a random key is sent if absent. */
  readonly idempotencyKey?: string | undefined
  readonly traceparent?: string | undefined
}

type RouteName = keyof typeof clientRoutes
type OperationOf<Name extends string> = Extract<(typeof operations)[number], { readonly name: Name }>
export type OperationInput<Name extends RouteName> = z.input<OperationOf<Name>['input']>
export type OperationOutput<Name extends RouteName> = z.output<OperationOf<Name>['output']>

/** An input with only optional fields is itself optional. */
export type MethodArguments<Input> =
  Record<string, never> extends Input
    ? [input?: Input, options?: RequestOptions]
    : [input: Input, options?: RequestOptions]

/** The element of the array of an output that is a list; never for any other output. */
type ItemOf<Output> = Output extends { items: readonly (infer Item)[] }
  ? Item
  : Output extends { results?: readonly (infer Hit)[] | undefined; nextCursor?: string | undefined }
    ? Hit
    : never

type MethodResult<Output> = [ItemOf<Output>] extends [never] ? Promise<Output> : PagePromise<Output, ItemOf<Output>>

/** Operations on registered tools are methods of `tools`, beside search. */
export type GroupOf<Name extends string> = Name extends `${infer Group}.${string}`
  ? Group extends 'registry'
    ? 'tools'
    : Group
  : never
type NamesIn<Group extends string> = { [Name in RouteName]: GroupOf<Name> extends Group ? Name : never }[RouteName]

/** The operations with a route, as methods: `tools.search`, `executions.get`. */
export type ClientMethods = {
  readonly [Group in GroupOf<RouteName>]: {
    readonly [Name in NamesIn<Group> as Name extends `${string}.${infer Method}` ? Method : never]: (
      ...args: MethodArguments<OperationInput<Name>>
    ) => MethodResult<OperationOutput<Name>>
  }
}

/** A client of a server. */
export interface TooldexClient extends ClientMethods {
  /** The events of an execution until it has ended; a lost connection is restored. */
  follow(executionId: string, options?: Pick<RequestOptions, 'signal'>): AsyncIterable<RunEvent>
}
