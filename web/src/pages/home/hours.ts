/** The counts of one span of time. */
interface Span {
  readonly from: string
  readonly runs: number
  readonly failed: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** The spans of a plot: those without runs are zero, and have no duration. */
export interface SpanSeries {
  /** The beginnings of the spans in seconds. */
  readonly times: readonly number[]
  readonly runs: readonly number[]
  readonly failed: readonly number[]
  readonly p50Ms: readonly (number | null)[]
  readonly p95Ms: readonly (number | null)[]
}

const hourMs = 3_600_000

/** Fills the spans until now that the statistics omit. */
export function toSeries(since: string, spans: readonly Span[], spanHours: number, now = Date.now()): SpanSeries {
  const start = Date.parse(since)
  const spanMs = spanHours * hourMs
  const byTime = new Map(spans.map((span) => [Date.parse(span.from), span]))
  const last = Math.max(now, ...byTime.keys())
  const times = Array.from({ length: Math.floor((last - start) / spanMs) + 1 }, (_, index) => start + index * spanMs)
  const each = times.map((time) => byTime.get(time))
  return {
    times: times.map((time) => time / 1000),
    runs: each.map((span) => span?.runs ?? 0),
    failed: each.map((span) => span?.failed ?? 0),
    p50Ms: each.map((span) => span?.p50Ms ?? null),
    p95Ms: each.map((span) => span?.p95Ms ?? null),
  }
}
