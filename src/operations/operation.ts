import type * as z from 'zod'
import type { Logger } from '../base/logger.ts'
import type { Runner } from '../runs/create-runner.ts'
import type { IdempotencyKeys } from '../runs/idempotency-keys.ts'
import type { Database } from '../storage/index.ts'
import type { LiveCatalogue } from './live-catalogue.ts'
import type { SearchMemory } from './search-memory.ts'

/** What a caller may do. */
export type Scope = 'read' | 'call' | 'write' | 'admin'

/** What an operation works with, and who asks. */
export interface OperationContext {
  readonly catalogue: LiveCatalogue
  readonly runner: Runner
  readonly keys: IdempotencyKeys
  readonly memory: SearchMemory
  readonly logger: Logger
  readonly scopes: ReadonlySet<Scope>
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((bytes: number) => void) | undefined
  /** Only for those who look after the database; everyone else works on stores. */
  readonly database?: Database | undefined
  readonly onStep?: ((step: string) => void) | undefined
}

/** One thing a caller can do, described once for every surface. */
export interface Operation<Input extends z.ZodType, Output extends z.ZodType> {
  readonly name: string
  readonly summary: string
  readonly scope: Scope
  readonly input: Input
  readonly output: Output
  handle(input: z.output<Input>, context: OperationContext): z.output<Output> | Promise<z.output<Output>>
}

/** Declares an operation. */
export function defineOperation<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
): Operation<Input, Output> {
  return operation
}
