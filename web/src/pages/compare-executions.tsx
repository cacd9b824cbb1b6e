import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { diffJson } from '../../../src/versions/diff-json.ts'
import { api } from '../api/client.ts'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { formatDuration } from '../ui/format-time.ts'
import { Page } from '../ui/page.tsx'
import { SafeText } from '../ui/safe-text.tsx'
import { SkeletonRows } from '../ui/skeleton.tsx'
import { Table } from '../ui/table.tsx'
import type { Execution } from './execution/use-execution.ts'

const maxDifferences = 200
const maxText = 2000

/** Two runs side by side, with the values in which they differ. */
export function CompareExecutionsPage() {
  const { a = '', b = '' } = useSearch({ strict: false }) as { readonly a?: string; readonly b?: string }
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['executions', 'compare', a, b],
    queryFn: async () => ({ left: await api.executions.get({ id: a }), right: await api.executions.get({ id: b }) }),
    enabled: a !== '' && b !== '',
  })
  return (
    <Page title="Compare runs" description="Where two runs differ. Equal values are left out.">
      {(a === '' || b === '') && (
        <EmptyState title="Choose two runs.">
          Select them in the list of{' '}
          <Link to="/executions" className="text-accent underline">
            executions
          </Link>
          , then choose Compare.
        </EmptyState>
      )}
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && a !== '' && b !== '' && <SkeletonRows />}
      {data !== undefined && <Comparison {...data} />}
    </Page>
  )
}

interface ComparisonProps {
  readonly left: Execution
  readonly right: Execution
}

function Comparison({ left, right }: ComparisonProps) {
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <Side name="A" run={left} />
        <Side name="B" run={right} />
      </div>
      <Differences title="Run" left={factsOf(left)} right={factsOf(right)} />
      <Differences title="Input" left={left.inputData} right={right.inputData} />
      <Differences title="Output" left={left.outputData} right={right.outputData} />
      <Differences title="Logs" left={left.logs} right={right.logs} />
    </>
  )
}

function Side({ name, run }: { readonly name: string; readonly run: Execution }) {
  return (
    <div className="rounded-lg border border-line bg-surface px-4 py-3 shadow-panel">
      <p className="text-xs text-muted">Run {name}</p>
      <Link to="/executions/$id" params={{ id: run.id }} className="font-medium break-all text-accent hover:underline">
        <SafeText max={120}>{run.toolName}</SafeText>
      </Link>
      <p className="text-sm text-muted">{new Date(run.createdAt).toLocaleString()}</p>
    </div>
  )
}

const factsOf = ({ toolName, version, status, errorCode, errorMessage, callerId, durationMs, ...run }: Execution) => ({
  toolName,
  version,
  status,
  errorCode,
  errorMessage,
  callerId,
  time: durationMs === null ? null : formatDuration(durationMs),
  exitCode: run.exitCode,
  isolation: run.isolation,
  environment: run.environment,
  worker: run.worker,
})

const textOf = (value: unknown) => (value === undefined ? '(none)' : (JSON.stringify(value, null, 1) ?? ''))

interface DifferencesProps {
  readonly title: string
  readonly left: unknown
  readonly right: unknown
}

function Differences({ title, left, right }: DifferencesProps) {
  const found = diffJson(left, right, maxDifferences)
  return (
    <Card
      title={title}
      isFlush
      actions={
        <span className="text-xs text-muted">
          {found.length} {found.length === 1 ? 'difference' : 'differences'}
        </span>
      }
    >
      {found.length === 0 ? (
        <p className="p-4 text-sm text-muted">Equal.</p>
      ) : (
        <Table
          caption={`Differences: ${title}`}
          rows={found}
          keyOf={({ pointer }) => pointer}
          columns={[
            {
              title: 'Where',
              className: 'font-mono text-xs w-1/5',
              cell: ({ pointer }) => <SafeText max={300}>{pointer === '' ? '(whole value)' : pointer}</SafeText>,
            },
            {
              title: 'A',
              className: valueClass,
              cell: ({ before }) => <SafeText max={maxText}>{textOf(before)}</SafeText>,
            },
            {
              title: 'B',
              className: valueClass,
              cell: ({ after }) => <SafeText max={maxText}>{textOf(after)}</SafeText>,
            },
          ]}
        />
      )}
    </Card>
  )
}

const valueClass = 'w-2/5 font-mono text-xs whitespace-pre-wrap wrap-anywhere'
