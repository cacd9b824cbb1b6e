/** The counts of one hour. */
interface Hour {
  readonly from: string
  readonly runs: number
  readonly failed: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** The hours of a plot: those without runs are zero, and have no duration. */
export interface HourSeries {
  /** The beginnings of the hours in seconds. */
  readonly times: readonly number[]
  readonly runs: readonly number[]
  readonly failed: readonly number[]
  readonly p50Ms: readonly (number | null)[]
  readonly p95Ms: readonly (number | null)[]
}

const hourMs = 3_600_000

/** Fills the hours that the statistics omit. */
export function toSeries(since: string, count: number, hours: readonly Hour[]): HourSeries {
  const start = Date.parse(since)
  const byTime = new Map(hours.map((hour) => [Date.parse(hour.from), hour]))
  const times = Array.from({ length: count }, (_, index) => start + index * hourMs)
  const each = times.map((time) => byTime.get(time))
  return {
    times: times.map((time) => time / 1000),
    runs: each.map((hour) => hour?.runs ?? 0),
    failed: each.map((hour) => hour?.failed ?? 0),
    p50Ms: each.map((hour) => hour?.p50Ms ?? null),
    p95Ms: each.map((hour) => hour?.p95Ms ?? null),
  }
}
