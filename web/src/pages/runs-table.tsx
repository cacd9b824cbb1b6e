import { Link } from '@tanstack/react-router'
import type { OperationOutput } from 'tooldex/client'
import { formatDuration } from '../ui/format-time.ts'
import { SafeText } from '../ui/safe-text.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { RunReason, RunStatus } from './executions/run-cells.tsx'

type Run = OperationOutput<'executions.list'>['items'][number]

interface RunsTableProps {
  readonly caption: string
  readonly runs: readonly Run[]
  /** Leaves out the reasons, and the buttons of calls that wait. */
  readonly isBrief?: boolean
}

/** A few runs with the reason of those that failed; each leads to its execution. */
export function RunsTable({ caption, runs, isBrief = false }: RunsTableProps) {
  return (
    <Table
      caption={caption}
      rows={runs}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Tool',
          cell: ({ id, toolName }) => (
            <Link to="/executions/$id" params={{ id }} className="font-medium text-accent hover:underline">
              <SafeText max={120}>{toolName}</SafeText>
            </Link>
          ),
        },
        { title: 'Status', cell: (run) => <RunStatus run={run} /> },
        ...(isBrief
          ? []
          : [
              {
                title: 'Reason',
                cell: (run: Run) => <RunReason run={run} />,
                isExtra: true,
                className: 'w-1/2 break-words',
              },
            ]),
        {
          title: 'Took',
          cell: ({ durationMs }) => (
            <span className="whitespace-nowrap">{durationMs === null ? '' : formatDuration(durationMs)}</span>
          ),
          align: 'right',
          isExtra: true,
        },
        { title: 'Called', cell: ({ createdAt }) => <Time value={createdAt} />, align: 'right' },
      ]}
    />
  )
}
