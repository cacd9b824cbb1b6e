import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { api } from '../api/client.ts'
import { useCaller } from '../api/session.ts'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Page } from '../ui/page.tsx'
import { SafeText } from '../ui/safe-text.tsx'
import { Skeleton, SkeletonRows } from '../ui/skeleton.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { Activity } from './home/activity.tsx'
import { Connect } from './home/connect.tsx'
import { FirstSteps } from './home/first-steps.tsx'
import { RunsTable } from './runs-table.tsx'

const refreshMs = 5000
const maxRuns = 6

/** What is here, what runs, what waits, what failed lately, and how clients connect. */
export function HomePage() {
  const stats = useQuery({ queryKey: ['stats'], queryFn: () => api.catalog.stats(), refetchInterval: refreshMs })
  if (stats.error !== null)
    return (
      <Page title="Home">
        <ErrorNotice error={stats.error} onRetry={() => void stats.refetch()} />
      </Page>
    )
  const isEmpty = stats.data?.catalog.total === 0 && stats.data.tools.total === 0
  return (
    <Page title="Home" description={isEmpty ? 'There are no tools yet. Each of these steps works at once.' : undefined}>
      {isEmpty ? <FirstSteps /> : <Counts stats={stats.data} />}
      <Waiting />
      <Activity />
      <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="flex min-w-0 flex-col gap-5">
          <Failed />
          <Recent />
        </div>
        <div className="flex min-w-0 flex-col gap-5">
          <Connect />
          <Clients />
        </div>
      </div>
    </Page>
  )
}

type Stats = Awaited<ReturnType<typeof api.catalog.stats>>

function Counts({ stats }: { readonly stats: Stats | undefined }) {
  const { data: queue } = useQuery({ queryKey: ['queue'], queryFn: () => api.queue.read(), refetchInterval: refreshMs })
  const sources = Object.entries(stats?.catalog.source ?? {}).map(([name, count]) => `${count} ${name}`)
  const statuses = Object.entries(stats?.tools.status ?? {}).filter(([, count]) => count > 0)
  return (
    <dl className="grid grid-cols-2 gap-3 md:grid-cols-4">
      <Count label="Tools offered" value={stats?.catalog.total} note={sources.join(', ')} />
      <Count
        label="Registered"
        value={stats?.tools.total}
        note={statuses.map(([status, count]) => `${count} ${status.toLowerCase()}`).join(', ')}
      />
      <Count label="Running" value={queue?.running} note={queue && `${queue.queued} queued`} />
      <Count
        label="Waiting for approval"
        value={queue?.waitingForApproval}
        note={queue && `${queue.workers.length} ${queue.workers.length === 1 ? 'worker' : 'workers'}`}
      />
    </dl>
  )
}

interface CountProps {
  readonly label: string
  readonly value: number | undefined
  readonly note: ReactNode
}

function Count({ label, value, note }: CountProps) {
  return (
    <div className="rounded-lg border border-line bg-surface px-4 py-3 shadow-panel">
      <dt className="text-xs text-muted">{label}</dt>
      <dd className="mt-1 text-xl font-semibold tabular-nums">
        {value === undefined ? <Skeleton className="h-7 w-12" /> : value.toLocaleString('en')}
        <span className="mt-0.5 block truncate text-xs font-normal text-muted">{note}</span>
      </dd>
    </div>
  )
}

const useRuns = (status: readonly ('PENDING' | 'FAILED' | 'TIMEOUT')[]) =>
  useQuery({
    queryKey: ['executions', 'home', status],
    queryFn: () => api.executions.list({ limit: maxRuns, ...(status.length === 0 ? {} : { status: [...status] }) }),
    refetchInterval: refreshMs,
  })

function Waiting() {
  const { data } = useRuns(['PENDING'])
  const waiting = (data?.items ?? []).filter(({ reason }) => reason === 'approval')
  if (waiting.length === 0) return null
  return (
    <Card title="Waiting for approval" isFlush>
      <RunsTable caption="Waiting for approval" runs={waiting} />
    </Card>
  )
}

function Failed() {
  const { data } = useRuns(['FAILED', 'TIMEOUT'])
  if (data === undefined || data.items.length === 0) return null
  return (
    <Card title="Failed lately" isFlush>
      <RunsTable caption="Failed lately" runs={data.items} />
    </Card>
  )
}

function Recent() {
  const { data, error, isPending, refetch } = useRuns([])
  return (
    <Card
      title="Newest runs"
      isFlush
      actions={
        <Link to="/executions" className="text-sm text-accent hover:underline">
          All executions
        </Link>
      }
    >
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows />}
      {data?.items.length === 0 && (
        <EmptyState icon={<CircleCheck aria-hidden />} title="No runs yet.">
          Calls of agents, commands and this console are listed here.
        </EmptyState>
      )}
      {data !== undefined && data.items.length > 0 && <RunsTable caption="Newest runs" runs={data.items} isBrief />}
    </Card>
  )
}

/** The keys by their last use; only administrators may list keys. */
function Clients() {
  const isAdmin = useCaller().data?.scopes.includes('admin') === true
  const { data } = useQuery({
    queryKey: ['keys'],
    queryFn: () => api.keys.list(),
    enabled: isAdmin,
    refetchInterval: refreshMs,
  })
  const used = (data?.items ?? []).filter(({ lastUsedAt, revokedAt }) => lastUsedAt !== null && revokedAt === null)
  if (used.length === 0) return null
  const newest = used.toSorted((a, b) => (b.lastUsedAt ?? '').localeCompare(a.lastUsedAt ?? '')).slice(0, 8)
  return (
    <Card title="Clients by key" isFlush>
      <Table
        caption="Clients by key"
        rows={newest}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Key', cell: ({ name }) => <SafeText max={80}>{name}</SafeText> },
          { title: 'Scopes', cell: ({ scopes }) => scopes.join(', '), isExtra: true },
          { title: 'Last request', cell: ({ lastUsedAt }) => <Time value={lastUsedAt ?? ''} />, align: 'right' },
        ]}
      />
    </Card>
  )
}
