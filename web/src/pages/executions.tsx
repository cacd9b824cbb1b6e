import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Activity, GitCompare } from 'lucide-react'
import { useState } from 'react'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../api/client.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { formatDuration } from '../ui/format-time.ts'
import { Page } from '../ui/page.tsx'
import { SafeText } from '../ui/safe-text.tsx'
import { SkeletonRows } from '../ui/skeleton.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { FilterBar } from './executions/filter-bar.tsx'
import { toQuery } from './executions/filters.ts'
import { RunReason, RunStatus } from './executions/run-cells.tsx'

type Run = OperationOutput<'executions.list'>['items'][number]

const pageSize = 50
const refreshMs = 2000
const slowRefreshMs = 15_000

/** All recorded runs, with filters; new ones appear at the top. */
export function ExecutionsPage() {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const runs = useInfiniteQuery({
    queryKey: ['executions', 'list', search],
    queryFn: ({ pageParam, signal }) =>
      api.executions.list({ ...toQuery(search), limit: pageSize, ...(pageParam && { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) > 1 ? slowRefreshMs : refreshMs),
  })
  const rows = runs.data?.pages.flatMap(({ items }) => items) ?? []
  const hasFilters = Object.values(search).some(Boolean)
  return (
    <Page title="Executions" description="What ran, what runs, and what waits for a decision.">
      <FilterBar search={search} />
      {runs.error !== null && <ErrorNotice error={runs.error} onRetry={() => void runs.refetch()} />}
      <RunTable rows={rows} isPending={runs.isPending}>
        {runs.data !== undefined && rows.length === 0 && (
          <EmptyState
            icon={<Activity aria-hidden />}
            title={hasFilters ? 'No run matches these filters.' : 'No runs yet.'}
          >
            {hasFilters
              ? 'Clear the filters, or choose a longer period. Tools and callers are compared as whole names.'
              : 'Calls of agents, commands and this console are listed here. Open a tool in the catalog and try it.'}
          </EmptyState>
        )}
      </RunTable>
      {runs.hasNextPage && (
        <div className="flex justify-center">
          <Button isBusy={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
            Load older runs
          </Button>
        </div>
      )}
    </Page>
  )
}

interface RunTableProps {
  readonly rows: readonly Run[]
  readonly isPending: boolean
  readonly children: React.ReactNode
}

function RunTable({ rows, isPending, children }: RunTableProps) {
  const navigate = useNavigate()
  const [chosen, setChosen] = useState<readonly string[]>([])
  const toggle = (id: string) =>
    setChosen(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id].slice(-2))
  const compare = () => void navigate({ to: '/executions/compare', search: { a: chosen[0] ?? '', b: chosen[1] ?? '' } })
  return (
    <Card
      title="Runs"
      isFlush
      actions={
        <Button
          size="sm"
          disabled={chosen.length !== 2}
          title="Choose two runs to compare them"
          icon={<GitCompare className="size-3.5" aria-hidden />}
          onClick={compare}
        >
          Compare{chosen.length === 0 ? '' : ` (${chosen.length} of 2)`}
        </Button>
      }
    >
      {isPending && <SkeletonRows rows={8} />}
      {children}
      {rows.length > 0 && (
        <Table
          caption="Runs"
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Compare',
              className: 'w-10',
              cell: ({ id, toolName }) => (
                <input
                  type="checkbox"
                  aria-label={`Compare the run of ${toolName}`}
                  className="size-4 accent-accent"
                  checked={chosen.includes(id)}
                  onChange={() => toggle(id)}
                />
              ),
            },
            ...columns,
          ]}
        />
      )}
    </Card>
  )
}

const columns: readonly Column<Run>[] = [
  {
    title: 'Tool',
    cell: ({ id, toolName, version, parentId, createdAt }) => (
      <>
        <Link to="/executions/$id" params={{ id }} className="font-medium break-words text-accent hover:underline">
          <SafeText max={120}>{toolName}</SafeText>
        </Link>
        {version !== null && <span className="ml-1.5 text-xs text-muted max-sm:ml-0 max-sm:block">v{version}</span>}
        {parentId !== null && (
          <span className="ml-1.5 text-xs whitespace-nowrap text-muted max-sm:ml-0 max-sm:block">in a program</span>
        )}
        <span className="block text-xs text-muted sm:hidden">
          <Time value={createdAt} />
        </span>
      </>
    ),
  },
  { title: 'Status', cell: (run) => <RunStatus run={run} /> },
  { title: 'Reason', isExtra: true, className: 'max-w-80', cell: (run) => <RunReason run={run} /> },
  {
    title: 'Caller',
    isExtra: true,
    className: 'whitespace-nowrap',
    cell: ({ callerId }) => <SafeText max={80}>{callerId ?? ''}</SafeText>,
  },
  {
    title: 'Time',
    align: 'right',
    className: 'whitespace-nowrap',
    isExtra: true,
    cell: ({ durationMs }) => (durationMs === null ? '' : formatDuration(durationMs)),
  },
  { title: 'When', align: 'right', isExtra: true, cell: ({ createdAt }) => <Time value={createdAt} /> },
]
