import type * as z from 'zod'
import type { Logger } from '../base/logger.ts'
import type { Problem } from '../base/problem.ts'
import type { RunControls } from '../contract/executor.ts'
import type { Caller } from '../contract/stores.ts'
import type { Metrics, Tracing } from '../contract/telemetry.ts'
import type { Runner } from '../runs/create-runner.ts'
import type { IdempotencyKeys } from '../runs/idempotency-keys.ts'
import type { MemoryResults } from '../runs/memory-results.ts'
import type { RecordedRuns } from '../runs/recorded-runs.ts'
import type { Database } from '../storage/database.ts'
import type { LiveCatalog } from './catalog/live-catalog.ts'
import type { SearchMemory } from './learning/search-memory.ts'
import type { Registry } from './registry/registry.ts'

/** The permissions of a key. */
export type Scope = 'read' | 'call' | 'write' | 'admin'

/** The services and the caller of an operation. */
export interface OperationContext {
  readonly catalog: LiveCatalog
  readonly runner: Runner
  readonly keys: IdempotencyKeys
  /** Recorded runs; absent where there is no database. */
  readonly runs?: RecordedRuns | undefined
  /** The store of large outputs without a database; if absent, outputs are returned whole. */
  readonly results?: MemoryResults | undefined
  /** The trace of the request. */
  readonly trace?: { readonly traceId?: string | undefined; readonly traceparent?: string | undefined } | undefined
  /** The tracer; no spans are recorded without it. */
  readonly tracing?: Tracing | undefined
  /** The metrics of the process; absent where they cannot be read. */
  readonly metrics?: Metrics | undefined
  readonly memory: SearchMemory
  readonly logger: Logger
  readonly scopes: ReadonlySet<Scope>
  /** The authenticated caller; the owner of the process where there is no authentication. */
  readonly caller: Caller
  /** The registry; absent where there is no database. */
  readonly registry?: Registry | undefined
  /** Input fields that the surface fills from elsewhere, so that errors do not ask for them. */
  readonly elsewhere?: ReadonlySet<string> | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((bytes: number) => void) | undefined
  /** Receives the output of a tool while it runs. */
  readonly onOutput?: RunControls['onOutput']
  /** For database maintenance only; all other operations use the stores. */
  readonly database?: Database | undefined
  readonly onStep?: ((step: string) => void) | undefined
}

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
export interface Operation<Input extends z.ZodType, Output extends z.ZodType> {
  readonly name: string
  readonly summary: string
  /** The noun for the input in error messages, if it is a resource: `tool`. */
  readonly subject?: string
  readonly scope: Scope
  readonly input: Input
  readonly output: Output
  readonly http?: HttpRoute
  handle(input: z.output<Input>, context: OperationContext): z.output<Output> | Promise<z.output<Output>>
  /** Validates the valid fields of an input with some invalid ones. */
  validateRemainder?(
    rest: z.output<Input>,
    wrong: readonly string[],
    context: OperationContext,
  ): Promise<readonly Problem[]> | readonly Problem[]
}

/** Declares an operation. */
export function defineOperation<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
): Operation<Input, Output> {
  return operation
}
