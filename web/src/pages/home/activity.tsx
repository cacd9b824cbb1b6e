import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import { api } from '../../api/client.ts'
import { Card } from '../../ui/card.tsx'
import { cx } from '../../ui/cx.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toSeries } from './hours.ts'

const Plot = lazy(async () => ({ default: (await import('../../ui/plot.tsx')).Plot }))
const refreshMs = 10_000

/** The periods of the plots, and the hours of one point. */
const periods = {
  day: { label: '24 hours', hours: 24, spanHours: 1 },
  week: { label: '7 days', hours: 168, spanHours: 6 },
  month: { label: '30 days', hours: 720, spanHours: 24 },
} as const
type Period = keyof typeof periods
const names = Object.keys(periods) as readonly Period[]

/** Runs, failures and durations over time, of all tools or of one; the period is in the URL. */
export function Activity({ tool }: { readonly tool?: string }) {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const period = names.find((name) => name === search.period) ?? 'day'
  const { label, hours, spanHours } = periods[period]
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery({
    queryKey: ['statistics', tool, period],
    queryFn: async () => {
      const statistics = await api.executions.statistics({ hours, spanHours, ...(tool === undefined ? {} : { tool }) })
      return { ...statistics, label, spanHours }
    },
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  })
  const series = useMemo(() => data && toSeries(data.since, data.hours, data.spanHours), [data])
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (isPending || series === undefined) return <Skeleton className="h-52 w-full" />
  return (
    <section
      aria-label="Activity"
      aria-busy={isPlaceholderData}
      className={cx('flex flex-col gap-3', isPlaceholderData && 'opacity-60')}
    >
      <Periods value={period} />
      {data.total.runs === 0 ? (
        <Card title={`Last ${data.label}`} isFlush>
          <EmptyState title={`No calls in the last ${data.label}.`}>
            Runs, failures and durations are plotted here.
          </EmptyState>
        </Card>
      ) : (
        <Plots total={data.total} label={data.label} series={series} />
      )}
    </section>
  )
}

function Periods({ value }: { readonly value: Period }) {
  const navigate = useNavigate()
  const search = useSearch({ strict: false })
  return (
    <fieldset aria-label="Period" className="flex gap-1 self-end rounded-md border border-line bg-surface p-0.5">
      {names.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === value}
          onClick={() =>
            void navigate({ to: '.', search: { ...search, period: name }, replace: true, resetScroll: false })
          }
          className={cx(
            'h-6 rounded px-2 text-xs font-medium',
            name === value ? 'bg-accent-soft text-accent-strong' : 'text-muted hover:bg-hover hover:text-text',
          )}
        >
          {periods[name].label}
        </button>
      ))}
    </fieldset>
  )
}

interface PlotsProps {
  readonly total: Awaited<ReturnType<typeof api.executions.statistics>>['total']
  readonly label: string
  readonly series: ReturnType<typeof toSeries>
}

function Plots({ total, label, series }: PlotsProps) {
  const rate = ((100 * total.failed) / total.runs).toFixed(1)
  const runLines = useMemo(
    () => [
      { label: 'Runs', color: '--c-accent', values: series.runs },
      { label: 'Failed', color: '--c-bad', values: series.failed },
    ],
    [series],
  )
  const timeLines = useMemo(
    () => [
      { label: 'p50', color: '--c-ok', values: series.p50Ms },
      { label: 'p95', color: '--c-warn', values: series.p95Ms },
    ],
    [series],
  )
  const [p50, p95] = [total.p50Ms, total.p95Ms].map((ms) => (ms === null ? 'none' : formatDuration(ms)))
  const runs = `${total.runs.toLocaleString('en')} ${total.runs === 1 ? 'run' : 'runs'} in ${label}, ${rate} % failed`
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <Card title={runs}>
        <Suspense fallback={<Skeleton className="h-44 w-full" />}>
          <Plot label={`Runs over time: ${runs}`} times={series.times} lines={runLines} isBars />
        </Suspense>
      </Card>
      <Card title={`Duration: p50 ${p50}, p95 ${p95}`}>
        <Suspense fallback={<Skeleton className="h-44 w-full" />}>
          <Plot
            label={`Duration over time: median ${p50}, 95th percentile ${p95}`}
            times={series.times}
            lines={timeLines}
            unit=" ms"
          />
        </Suspense>
      </Card>
    </div>
  )
}
