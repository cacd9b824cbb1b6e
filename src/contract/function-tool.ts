import type { CatalogToolInput } from './catalog.ts'

/** The context of one call of a function. */
export interface FunctionContext {
  /** Aborts when the caller cancels the call or its time is over. */
  readonly signal: AbortSignal
  /** Reports text while the function runs: as progress of the call, and as an event of a recorded execution. */
  report(text: string): void
}

/** A function of this program that can be offered as a tool. */
export interface FunctionTool {
  readonly tool: CatalogToolInput
  /** The time limit of a call that sets none. */
  readonly timeoutMs: number
  /** Runs the function with arguments that match the input schema. */
  readonly run: (input: Readonly<Record<string, unknown>>, context: FunctionContext) => unknown
}
