import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo } from 'react'
import { api } from '../../api/client.ts'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toSeries } from './hours.ts'

const Plot = lazy(async () => ({ default: (await import('../../ui/plot.tsx')).Plot }))
const refreshMs = 10_000

/** Runs, failures and durations of the last day, of all tools or of one. */
export function Activity({ tool, hours = 24 }: { readonly tool?: string; readonly hours?: number }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['statistics', tool, hours],
    queryFn: () => api.executions.statistics({ hours, ...(tool === undefined ? {} : { tool }) }),
    refetchInterval: refreshMs,
  })
  const series = useMemo(() => data && toSeries(data.since, hours, data.hours), [data, hours])
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (isPending || series === undefined) return <Skeleton className="h-52 w-full" />
  const { total } = data
  if (total.runs === 0)
    return (
      <Card title="Last 24 hours" isFlush>
        <EmptyState title="No calls in the last 24 hours.">Runs, failures and durations are plotted here.</EmptyState>
      </Card>
    )
  const rate = ((100 * total.failed) / total.runs).toFixed(1)
  const runLines = [
    { label: 'Runs', color: '--c-accent', values: series.runs },
    { label: 'Failed', color: '--c-bad', values: series.failed },
  ]
  const timeLines = [
    { label: 'p50', color: '--c-ok', values: series.p50Ms },
    { label: 'p95', color: '--c-warn', values: series.p95Ms },
  ]
  const [p50, p95] = [total.p50Ms, total.p95Ms].map((ms) => (ms === null ? 'none' : formatDuration(ms)))
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <Card
        title={`${total.runs.toLocaleString('en')} ${total.runs === 1 ? 'run' : 'runs'} in 24 hours, ${rate} % failed`}
      >
        <Suspense fallback={<Skeleton className="h-44 w-full" />}>
          <Plot
            label={`Runs by hour: ${total.runs}, of which ${total.failed} failed`}
            times={series.times}
            lines={runLines}
            isBars
          />
        </Suspense>
      </Card>
      <Card title={`Duration: p50 ${p50}, p95 ${p95}`}>
        <Suspense fallback={<Skeleton className="h-44 w-full" />}>
          <Plot
            label={`Duration by hour: median ${p50}, 95th percentile ${p95}`}
            times={series.times}
            lines={timeLines}
            unit=" ms"
          />
        </Suspense>
      </Card>
    </div>
  )
}
