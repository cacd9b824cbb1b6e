import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Activity } from '../home/activity.tsx'
import { RunsTable } from '../runs-table.tsx'

const refreshMs = 5000

/** The newest runs of a tool. */
export function Runs({ tool }: { readonly tool: string }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['executions', { tool }],
    queryFn: () => api.executions.list({ tool, limit: 50 }),
    refetchInterval: refreshMs,
  })
  return (
    <div className="flex flex-col gap-5">
      <Activity tool={tool} />
      <Card title="Newest runs" isFlush>
        {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {isPending && <SkeletonRows />}
        {data?.items.length === 0 && (
          <EmptyState title="No runs yet.">Calls of agents, commands and this console are listed here.</EmptyState>
        )}
        {data !== undefined && data.items.length > 0 && <RunsTable caption="Newest runs" runs={data.items} />}
      </Card>
    </div>
  )
}
