/** A phase of a run or a call of its program: its place on the scale from 0 to 1. */
export interface Span {
  readonly id: string
  readonly label: string
  readonly kind: 'wait' | 'run' | 'ok' | 'bad'
  readonly start: number
  readonly end: number
  readonly ms: number
}

interface Timed {
  readonly id: string
  readonly toolName: string
  readonly status: string
  readonly reason: string | null
  readonly createdAt: string
  readonly startedAt: string | null
  readonly completedAt: string | null
}

interface Timespans {
  readonly spans: readonly Span[]
  readonly totalMs: number
}

const kindOf = ({ status, completedAt }: Timed): Span['kind'] => {
  if (completedAt === null) return 'run'
  return status === 'SUCCESS' ? 'ok' : 'bad'
}

/** The wait and the work of a run and the work of its calls, on one scale that ends with the last of them. */
export function spansOf(run: Timed, children: readonly Timed[], now = Date.now()): Timespans {
  const time = (text: string | null) => (text === null ? undefined : Date.parse(text))
  const begin = Date.parse(run.createdAt)
  const ends = [run, ...children].map(({ completedAt }) => time(completedAt) ?? now)
  const total = Math.max(...ends, begin + 1) - begin
  const span = (id: string, label: string, kind: Span['kind'], [from, to]: readonly [number, number]): Span => {
    const [start, end] = [from - begin, Math.max(from, to) - begin].map((ms) => Math.min(Math.max(ms / total, 0), 1))
    return { id, label, kind, start: start ?? 0, end: end ?? 0, ms: Math.max(to - from, 0) }
  }
  const started = time(run.startedAt)
  const ended = time(run.completedAt) ?? now
  const wait = span('wait', run.reason === 'approval' ? 'Waits for approval' : 'Queued', 'wait', [
    begin,
    started ?? ended,
  ])
  const work = started === undefined ? [] : [span('run', 'Run', kindOf(run), [started, ended])]
  const calls = children.map((child) =>
    span(child.id, child.toolName, kindOf(child), [
      time(child.startedAt) ?? Date.parse(child.createdAt),
      time(child.completedAt) ?? now,
    ]),
  )
  return { spans: [wait, ...work, ...calls], totalMs: total }
}
