import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Facts } from '../../ui/facts.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import { SafeText } from '../../ui/safe-text.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

const refreshMs = 3000
const megabyte = 1024 * 1024

/** Queue, workers and database. */
export function ServerState() {
  const queue = useQuery({ queryKey: ['queue'], queryFn: () => api.queue.read(), refetchInterval: refreshMs })
  const stats = useQuery({ queryKey: ['stats'], queryFn: () => api.catalog.stats() })
  const error = queue.error ?? stats.error
  const { data } = queue
  return (
    <div className="flex flex-col gap-5">
      {error !== null && <ErrorNotice error={error} onRetry={() => void queue.refetch()} />}
      <Card title="Queue">
        {data === undefined ? (
          <SkeletonRows rows={2} />
        ) : (
          <Facts
            facts={[
              ['Running', data.running],
              ['Queued', data.queued],
              ['Waiting for approval', data.waitingForApproval],
              ['Wait of the oldest', data.oldestQueuedMs === null ? 'none waits' : formatDuration(data.oldestQueuedMs)],
            ]}
          />
        )}
      </Card>
      <Card title="Workers" isFlush>
        {data === undefined ? (
          <SkeletonRows rows={2} />
        ) : (
          <Table
            caption="Workers"
            rows={data.workers}
            keyOf={({ worker }) => worker}
            columns={[
              {
                title: 'Worker',
                className: 'break-all',
                cell: ({ worker }) => <SafeText max={100}>{worker}</SafeText>,
              },
              { title: 'Kind', isExtra: true, cell: ({ kind }) => kind },
              {
                title: 'State',
                cell: ({ alive, draining }) => (
                  <Badge tone={alive ? (draining ? 'warn' : 'ok') : 'bad'}>
                    {alive ? (draining ? 'stopping' : 'alive') : 'lost'}
                  </Badge>
                ),
              },
              { title: 'Runs', align: 'right', cell: ({ running, slots }) => `${running} of ${slots}` },
              {
                title: 'Executors',
                isExtra: true,
                cell: ({ executors }) => <SafeText max={200}>{executors.join(', ')}</SafeText>,
              },
              { title: 'Last seen', isExtra: true, cell: ({ lastSeenAt }) => <Time value={lastSeenAt} /> },
            ]}
          />
        )}
      </Card>
      <Card title="Database">
        {stats.data === undefined ? (
          <SkeletonRows rows={2} />
        ) : (
          <Facts
            facts={[
              ['Engine', stats.data.database?.engine],
              ['Size', stats.data.database && `${(stats.data.database.bytes / megabyte).toFixed(1)} MiB`],
              ['Tools', stats.data.tools.total],
              ['Versions', stats.data.versions],
              ['Keys', stats.data.keys],
            ]}
          />
        )}
      </Card>
    </div>
  )
}
