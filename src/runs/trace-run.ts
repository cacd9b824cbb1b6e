import type { Execution } from '../contract/execution.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { Span, SpanOptions } from '../contract/telemetry.ts'

/** The span options of a run: its tool, never its input. */
export function aboutRun(
  kind: NonNullable<SpanOptions['kind']>,
  { name, version }: Pick<RunnableTool, 'name' | 'version'>,
): SpanOptions {
  return {
    kind,
    attributes: { 'tooldex.tool': name, ...(version === null ? {} : { 'tooldex.tool.version': version }) },
  }
}

/** Adds the state of a run to its span. */
export function noteEnd(span: Span, { id, status, attempt, isolation, errorCode }: Execution): void {
  span.set({
    'tooldex.execution': id,
    'tooldex.status': status,
    'tooldex.attempt': attempt,
    ...(isolation === null ? {} : { 'tooldex.isolation': isolation }),
  })
  if (errorCode !== null) span.fail(errorCode)
}
