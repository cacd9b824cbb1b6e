import type * as z from 'zod'
import type { Logger } from '../base/logger.ts'
import type { Problem } from '../base/problem.ts'
import type { RunControls } from '../contract/executor.ts'
import type { Metrics } from '../contract/run-observer.ts'
import type { Caller } from '../contract/stores.ts'
import type { Tracing } from '../contract/tracing.ts'
import type { Runner } from '../runs/create-runner.ts'
import type { IdempotencyKeys } from '../runs/idempotency-keys.ts'
import type { MemoryResults } from '../runs/memory-results.ts'
import type { RecordedRuns } from '../runs/recorded-runs.ts'
import type { Database } from '../storage/database.ts'
import type { LiveCatalog } from './catalog/live-catalog.ts'
import type { SearchMemory } from './learning/search-memory.ts'
import type { Registry } from './registry/registry.ts'

/** What a caller may do. */
export type Scope = 'read' | 'call' | 'write' | 'admin'

/** What an operation works with, and who asks. */
export interface OperationContext {
  readonly catalog: LiveCatalog
  readonly runner: Runner
  readonly keys: IdempotencyKeys
  /** Recorded runs; absent where there is no database. */
  readonly runs?: RecordedRuns | undefined
  /** Where large outputs are kept without a database; absent where they are handed over whole. */
  readonly results?: MemoryResults | undefined
  /** The trace that a request belongs to. */
  readonly trace?: { readonly traceId?: string | undefined; readonly traceparent?: string | undefined } | undefined
  /** Where spans are recorded; nowhere where absent. */
  readonly tracing?: Tracing | undefined
  /** What is counted; absent where nobody can ask for it. */
  readonly metrics?: Metrics | undefined
  readonly memory: SearchMemory
  readonly logger: Logger
  readonly scopes: ReadonlySet<Scope>
  /** Who asks; the owner of the process where nobody has to say. */
  readonly caller: Caller
  /** Where tools are kept; absent where there is no database. */
  readonly registry?: Registry | undefined
  /** What of the input the surface takes from elsewhere, so that nobody is told to send it along. */
  readonly elsewhere?: ReadonlySet<string> | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((bytes: number) => void) | undefined
  /** Hears what a tool prints, as it prints it. */
  readonly onOutput?: RunControls['onOutput']
  /** Only for those who look after the database; everyone else works on stores. */
  readonly database?: Database | undefined
  readonly onStep?: ((step: string) => void) | undefined
}

/** Where an operation is reached over HTTP, below `/api/v1`. Names in braces are taken from the address. */
export interface HttpRoute {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete'
  readonly path: string
  /** What a success is answered with; 200 where absent. */
  readonly status?: 200 | 201 | 202 | 204
  /** Where that depends on the answer: whether it is what was asked for, or what is to come. */
  readonly isDone?: (answer: unknown) => boolean
  readonly tag: string
  /** Where what was made is found; names in braces are taken from the answer. */
  readonly location?: string
  /** How much the body may be, where the usual is not enough. */
  readonly bodyBytes?: number
  /** How many JSON values the body may have, where the usual is not enough. */
  readonly bodyValues?: number
  /** What to do about a body that is larger. */
  readonly bodyHint?: string
  /** What the answer is where it is no JSON; then the operation gives a stream of it. */
  readonly media?: string
}

/** One thing a caller can do, described once for every surface. */
export interface Operation<Input extends z.ZodType, Output extends z.ZodType> {
  readonly name: string
  readonly summary: string
  /** What the input is, in a word, where it is a thing of its own that can be refused: `tool`. */
  readonly subject?: string
  readonly scope: Scope
  readonly input: Input
  readonly output: Output
  readonly http?: HttpRoute
  handle(input: z.output<Input>, context: OperationContext): z.output<Output> | Promise<z.output<Output>>
  /** What else is wrong with an input that lacks the right shape at some places, given what is left of it without them. */
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
