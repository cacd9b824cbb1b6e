/** What is told about a span; never arguments or outputs. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A span that is open. */
export interface Span {
  /** What whoever is called from here is told (W3C traceparent); undefined where there is no trace. */
  readonly traceparent: string | undefined
  /** The trace that a caller sent or that is recorded; undefined where there is neither. */
  readonly traceId: string | undefined
  set(attributes: SpanAttributes): void
  /** It went wrong, with this code of the error table. */
  fail(code: string): void
}

export interface SpanOptions {
  readonly kind?: 'internal' | 'server' | 'producer' | 'consumer'
  /** The traceparent of whoever asked. */
  readonly parent?: string | undefined
  /** Whether what happens to be going on around here has nothing to do with it, as for work taken from a queue. */
  readonly detached?: boolean
  readonly attributes?: SpanAttributes
}

/** Records what happened when, and because of what. */
export interface Tracing {
  /** Does the work in a span of its own, which ends with it. */
  inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>
}

/** Records nothing, and hands the trace of the caller on as it came. */
export const untraced: Tracing = {
  inSpan: (_name, { parent }, work) =>
    work({ traceparent: parent, traceId: traceIdOf(parent), set: () => {}, fail: () => {} }),
}

const shape = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The trace that a traceparent names; what is none names none. */
export const traceIdOf = (traceparent: string | undefined): string | undefined => shape.exec(traceparent ?? '')?.[1]

/** The trace that a request says it belongs to. */
export function readTrace(given: unknown): { readonly traceId: string; readonly traceparent: string } | undefined {
  if (typeof given !== 'string') return undefined
  // A later version of the standard may add to the end, and still begins like this.
  const known = /^(?!ff)[0-9a-f]{2}-/.test(given) ? `00${given.slice(2, 55)}` : ''
  const traceId = traceIdOf(known)
  return traceId === undefined ? undefined : { traceId, traceparent: known }
}
