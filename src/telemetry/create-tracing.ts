import {
  type Context,
  context,
  isSpanContextValid,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { toTooldexError } from '../base/errors.ts'
import { type Span, type SpanOptions, type Tracing, traceIdOf } from '../contract/telemetry.ts'

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const

/** Records spans with the OpenTelemetry SDK of the process; without one, the trace of the caller is propagated unchanged. */
export function createTracing(version: string): Tracing {
  const tracer = trace.getTracer('tooldex', version)
  return {
    async inSpan(name, options, work) {
      const around = contextFor(options)
      const { kind = 'internal', attributes } = options
      const span = tracer.startSpan(name, { kind: kinds[kind], ...(attributes && { attributes }) }, around)
      try {
        return await context.with(trace.setSpan(around, span), () => work(toSpan(span, options.parent)))
      } catch (thrown) {
        fail(span, toTooldexError(thrown).code)
        throw thrown
      } finally {
        span.end()
      }
    },
  }
}

/** The parent of a span: the active context, or else the context that the caller sent. */
function contextFor({ parent, detached = false }: SpanOptions): Context {
  const around = detached ? ROOT_CONTEXT : context.active()
  const own = trace.getSpanContext(around)?.traceId
  const parentTraceId = traceIdOf(parent)
  // An instrumented host application has a span of the caller's trace open already; this span is its child.
  if (parent === undefined || parentTraceId === undefined || parentTraceId === own) return around
  return trace.setSpanContext(around, readParent(parent))
}

const readParent = (traceparent: string): SpanContext => ({
  traceId: traceparent.slice(3, 35),
  spanId: traceparent.slice(36, 52),
  traceFlags: Number.parseInt(traceparent.slice(53, 55), 16) & 1,
  isRemote: true,
})

function toSpan(span: OtelSpan, parent: string | undefined): Span {
  const own = span.spanContext()
  const isValid = isSpanContextValid(own)
  return {
    traceparent: isValid ? write(own) : parent,
    traceId: isValid && (span.isRecording() || parent !== undefined) ? own.traceId : traceIdOf(parent),
    set: (attributes) => void span.setAttributes(attributes),
    fail: (code) => fail(span, code),
  }
}

function fail(span: OtelSpan, code: string): void {
  // Messages may contain input values; codes cannot.
  span.setAttribute('error.type', code)
  span.setStatus({ code: SpanStatusCode.ERROR, message: code })
}

const write = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`
