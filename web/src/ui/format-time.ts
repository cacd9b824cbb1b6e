const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const

/** A duration for a person: `420 ms`, `3.2 s`, `4 min`, `2 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const [unit, size] = units.find(([, size]) => ms >= size) ?? ['ms', 1]
  return `${Math.round(ms / size)} ${unit}`
}

/** The distance of a time from now: `now`, `4 min ago`, `in 2 h`. */
export function formatAge(time: string, now = Date.now()): string {
  const ms = now - Date.parse(time)
  if (Math.abs(ms) < 1000) return 'now'
  const distance = formatDuration(Math.abs(ms) < 60_000 ? Math.trunc(Math.abs(ms) / 1000) * 1000 : Math.abs(ms))
  const short = distance.replace('.0 s', ' s')
  return ms < 0 ? `in ${short}` : `${short} ago`
}
