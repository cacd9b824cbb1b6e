import type { Execution, QueueState, Swept, UnattendedEnd } from './execution.ts'
import type { Limit, LimitRefusal, LimitUse } from './policy.ts'

/** The attributes of a span; never arguments or outputs. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** An open span. */
export interface Span {
  /** The W3C traceparent for outgoing requests; undefined where there is no trace. */
  readonly traceparent: string | undefined
  /** The id of the caller's trace or of the recorded one; undefined where there is neither. */
  readonly traceId: string | undefined
  set(attributes: SpanAttributes): void
  /** Marks the span as failed, with a code of the error table. */
  fail(code: string): void
}

export interface SpanOptions {
  readonly kind?: 'internal' | 'server' | 'producer' | 'consumer'
  /** The traceparent of the caller. */
  readonly parent?: string | undefined
  /** Whether to ignore the active span, as for work from a queue. */
  readonly detached?: boolean
  readonly attributes?: SpanAttributes
}

/** Records spans. */
export interface Tracing {
  /** Runs the work in a new span that ends with the work. */
  inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>
}

/** Records nothing and passes the trace context of the caller on unchanged. */
export const untraced: Tracing = {
  inSpan: (_name, { parent }, work) =>
    work({ traceparent: parent, traceId: traceIdOf(parent), set: () => {}, fail: () => {} }),
}

const shape = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The trace id of a traceparent; undefined where it is invalid. */
export const traceIdOf = (traceparent: string | undefined): string | undefined => shape.exec(traceparent ?? '')?.[1]

/** Reads the trace context of a request. */
export function parseTraceHeader(
  header: unknown,
): { readonly traceId: string; readonly traceparent: string } | undefined {
  if (typeof header !== 'string') return undefined
  // Later versions of the standard may append fields but keep this prefix.
  const traceparent = /^(?!ff)[0-9a-f]{2}-/.test(header) ? `00${header.slice(2, 55)}` : ''
  const traceId = traceIdOf(traceparent)
  return traceId === undefined ? undefined : { traceId, traceparent }
}

/** Receives events of runs, for metrics. */
export interface RunObserver {
  /** A run starts in this process; the returned function is called with its end, or without one where the final write failed. */
  started(execution: Execution, workspace: string): (ended?: Execution | undefined) => void
  /** This process ended a run that it did not complete. */
  endedQuietly(end: UnattendedEnd): void
  /** Runs without a live worker were ended or returned to the queue. */
  swept(swept: Swept): void
  /** This many old runs were deleted. */
  pruned(count: number): void
}

/** The limits of a workspace and their present use. */
export interface LimitState {
  readonly limits: readonly Limit[]
  readonly usage: readonly LimitUse[]
}

/** The state of a workspace besides its runs; a part is absent where the caller may not read it. */
export interface WorkspaceState {
  readonly limits?: LimitState | undefined
  /** The MCP servers that the caller sees. */
  readonly sources?: readonly { readonly state: string; readonly waiting: number }[] | undefined
}

/** The metrics of this process. */
export interface Metrics extends RunObserver {
  /** A limit did not allow a call. */
  refused(workspace: string, refusal: LimitRefusal): void
  /** Returns the Prometheus text format, with only the tools of the workspace and, where names are passed, of these names. */
  render(workspace: string, queue: QueueState, names?: ReadonlySet<string>, state?: WorkspaceState): Promise<string>
}
