import type * as z from 'zod'
import type { Logger } from '../base/logger.ts'
import type { Problem } from '../base/problem.ts'
import type { RunControls } from '../contract/executor.ts'
import type { UpstreamOffers } from '../contract/mcp-server.ts'
import type { SourceServers } from '../contract/source.ts'
import type { Caller, RegistryState } from '../contract/stores.ts'
import type { Metrics, Tracing } from '../contract/telemetry.ts'
import type { Runner } from '../runs/create-runner.ts'
import type { IdempotencyKeys } from '../runs/idempotency-keys.ts'
import type { MemoryResults } from '../runs/memory-results.ts'
import type { RecordedRuns } from '../runs/recorded-runs.ts'
import type { Database } from '../storage/database.ts'
import type { LiveCatalog } from './catalog/live-catalog.ts'
import type { SearchMemory } from './learning/search-memory.ts'
import type { Registry } from './registry/registry.ts'
import type { RegistryClient } from './registry-client/registry-client.ts'

/** The permissions of a key. */
export type Scope = 'read' | 'call' | 'write' | 'admin'

/** The caller's side of an operation: identity, permissions, cancellation, trace and callbacks. */
export interface CallerContext {
  /** The authenticated caller; the owner of the process where there is no authentication. */
  readonly caller: Caller
  readonly scopes: ReadonlySet<Scope>
  readonly logger: Logger
  readonly signal?: AbortSignal | undefined
  /** The origin of the server as the caller knows it, for URLs in responses. */
  readonly origin?: string | undefined
  /** The state of the registry that was read with the key of the caller. */
  readonly present?: PresentState | undefined
  /** The trace of the request. */
  readonly trace?: { readonly traceId?: string | undefined; readonly traceparent?: string | undefined } | undefined
  /** The tracer; no spans are recorded without it. */
  readonly tracing?: Tracing | undefined
  /** Input fields that the surface fills from elsewhere, so that errors do not ask for them. */
  readonly elsewhere?: ReadonlySet<string> | undefined
  readonly onProgress?: ((bytes: number) => void) | undefined
  /** The time after which a call that still runs is answered with its execution id; unlimited if absent. */
  readonly respondMs?: number | undefined
  /** Receives the output of a tool while it runs. */
  readonly onOutput?: RunControls['onOutput']
  readonly onStep?: ((step: string) => void) | undefined
  /** The input that the caller can provide to a tool of an upstream. */
  readonly callerInput?: RunControls['callerInput']
  /** Whether the caller may run programs. */
  readonly codeMode?: boolean | undefined
  /** The execution of the program that makes the request. */
  readonly parentId?: string | undefined
  /** The client for the calls of programs, where tools of other processes are offered, too. */
  readonly programClient?: RegistryClient | undefined
}

/** The services of a process; an operation receives those that it declares. */
export interface Services {
  readonly catalog: LiveCatalog
  readonly runner: Runner
  readonly keys: IdempotencyKeys
  readonly memory: SearchMemory
  /** Recorded runs; absent where there is no database. */
  readonly runs: RecordedRuns
  /** The store of large outputs without a database; if absent, outputs are returned whole. */
  readonly results: MemoryResults
  /** The metrics of the process; absent where they cannot be read. */
  readonly metrics: Metrics
  /** The registry; absent where there is no database. */
  readonly registry: Registry
  /** The upstreams that a workspace may use; undefined if none. */
  readonly upstreams: (workspace: string) => UpstreamOffers | undefined
  /** The servers of sources; absent where none can be started. */
  readonly sources: SourceServers
  /** For database maintenance only; all other operations use the stores. */
  readonly database: Database
}

type ServiceName = keyof Services

/** A service that an operation needs; with a question mark, one that it uses where it is present. */
export type Need = ServiceName | `${ServiceName}?`

/** The context of an operation or function with these needs: the caller's side, and only the declared services. */
export type OperationContext<Needs extends Need = never> = CallerContext & {
  readonly [Name in ServiceName as Name extends Needs ? Name : never]: Services[Name]
} & { readonly [Name in ServiceName as `${Name}?` extends Needs ? Name : never]?: Services[Name] | undefined }

/** The context of functions that work on all tools: of configs and, where there is one, of the registry. */
export type ToolContext = OperationContext<'catalog' | 'registry?'>

/** The context of a process that works on configs; with a database it has more services. */
export type ProcessContext = OperationContext<
  | 'catalog'
  | 'runner'
  | 'keys'
  | 'memory'
  | 'runs?'
  | 'results?'
  | 'metrics?'
  | 'registry?'
  | 'upstreams?'
  | 'sources?'
  | 'database?'
>

/** The context of a server, which has a registry. */
export type ServerContext = ProcessContext & OperationContext<'registry'>

/** A context with any services; `invoke` checks those that an operation needs. */
export type PartialContext = OperationContext<`${ServiceName}?`>

/** Limits of a request body. */
export interface BodyLimits {
  readonly bytes: number
  readonly depth: number
  /** The number of objects, arrays and scalar values. */
  readonly values: number
  /** The hint of the error for a larger body. */
  readonly hint?: string | undefined
}

/** The limits of queries, which cost time for each word on the main thread. */
export const queryLimits = { bytes: 32 * 1024, depth: 10, values: 10_000 }

/** The HTTP route of an operation, below `/api/v1`. Names in braces are path parameters. */
export interface HttpRoute {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete'
  readonly path: string
  /** The status of a success; 200 if absent. */
  readonly status?: 200 | 201 | 202 | 204
  /** For routes with two success statuses: whether the response is final, or the result is still to come. */
  readonly isDone?: (answer: unknown) => boolean
  readonly tag: string
  /** The Location of a created resource; names in braces are fields of the response. */
  readonly location?: string
  /** The limits of the body that differ from the defaults. */
  readonly body?: Partial<BodyLimits>
  /** How long a client waits for the response, if it may take longer than a minute. */
  readonly deadlineMs?: number
  /** Whether a success ends keys, so that no key may be remembered as valid. */
  readonly endsKeys?: boolean
  /** The media type of a response that is not JSON; the operation then returns a stream. */
  readonly media?: string
}

/** One thing a caller can do, described once for every surface. */
export interface Operation<
  Input extends z.ZodType,
  Output extends z.ZodType,
  Context extends CallerContext = OperationContext<Need>,
  Name extends string = string,
> {
  readonly name: Name
  readonly summary: string
  /** The noun for the input in error messages, if it is a resource: `tool`. */
  readonly subject?: string
  readonly scope: Scope
  /** The services of its context; without one that has no question mark, the error is UNAVAILABLE. */
  readonly needs?: readonly Need[]
  readonly input: Input
  readonly output: Output
  readonly http?: HttpRoute
  handle(input: z.output<Input>, context: Context): z.output<Output> | Promise<z.output<Output>>
  /** The problems in the valid fields of an input with some invalid ones, which have placeholders. */
  validateRemainder?(rest: z.output<Input>, context: Context): Promise<readonly Problem[]>
}

/** Declares an operation. */
export function defineOperation<
  Input extends z.ZodType,
  Output extends z.ZodType,
  const Name extends string,
  Needs extends Need = never,
>(
  operation: Operation<Input, Output, OperationContext<Needs>, Name> & { readonly needs?: readonly Needs[] },
): Operation<Input, Output, OperationContext<Needs>, Name> {
  return operation
}

/** The state of the registry at the start of a request. */
interface PresentState {
  readonly state: RegistryState
  readonly readAt: number
}

// Reading a body, or waiting, may take longer: the registry is then read anew.
const validMs = 1000

export const presentState = (state: RegistryState | undefined): PresentState | undefined =>
  state === undefined ? undefined : { state, readAt: performance.now() }

/** The state of the registry that a request may rely on; undefined where it has to be read. */
export const validState = ({ present }: { readonly present?: PresentState | undefined }): RegistryState | undefined =>
  present !== undefined && performance.now() - present.readAt < validMs ? present.state : undefined
