import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { Card } from '../../ui/card.tsx'
import { cx } from '../../ui/cx.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { SafeText } from '../../ui/safe-text.tsx'
import { Time } from '../../ui/time.tsx'
import { WaitBadge } from '../executions/wait-badge.tsx'
import { type Span, spansOf } from './spans.ts'
import type { Execution } from './use-execution.ts'

type Child = OperationOutput<'executions.list'>['items'][number]

const refreshMs = 1000
const maxChildren = 100

/** The phases of a run and the calls of its program, on one scale of time. */
export function Timeline({ execution, isLive }: { readonly execution: Execution; readonly isLive: boolean }) {
  const { data } = useQuery({
    queryKey: ['executions', 'children', execution.id],
    queryFn: () => api.executions.list({ parent: execution.id, sort: 'createdAt', limit: maxChildren }),
    refetchInterval: isLive ? refreshMs : false,
  })
  const children = data?.items ?? []
  const { spans, totalMs } = spansOf(execution, children)
  return (
    <Card title="Timeline" actions={<span className="text-xs text-muted">{formatDuration(totalMs)} in all</span>}>
      <ol className="flex flex-col gap-1">
        {spans.map((span) => (
          <Row key={span.id} span={span} child={children.find(({ id }) => id === span.id)} />
        ))}
      </ol>
      <Events execution={execution} />
      {data?.nextCursor !== undefined && (
        <Link
          to="/executions"
          search={{ parent: execution.id }}
          className="mt-2 inline-block text-sm text-accent underline"
        >
          The first {maxChildren} calls are shown. List all of them
        </Link>
      )}
    </Card>
  )
}

const colors = {
  wait: 'fill-warn/60',
  run: 'fill-accent',
  ok: 'fill-ok',
  bad: 'fill-bad',
} as const

function Row({ span, child }: { readonly span: Span; readonly child: Child | undefined }) {
  return (
    <li className="grid items-center gap-x-3 gap-y-1 rounded-md px-1 py-1 sm:grid-cols-[13rem_1fr_5rem]">
      <span className={cx('min-w-0 truncate text-sm', child !== undefined && 'pl-4')}>
        {child === undefined ? (
          span.label
        ) : (
          <Link to="/executions/$id" params={{ id: child.id }} className="text-accent hover:underline">
            <SafeText max={80}>{child.toolName}</SafeText>
          </Link>
        )}
      </span>
      <svg className="h-3 w-full" aria-hidden preserveAspectRatio="none">
        <rect width="100%" height="100%" rx="3" className="fill-sunken" />
        <rect
          x={`${span.start * 100}%`}
          width={`${Math.max(span.end - span.start, 0.004) * 100}%`}
          height="100%"
          rx="3"
          className={colors[span.kind]}
        />
      </svg>
      <span className="text-right text-xs text-muted tabular-nums max-sm:text-left">
        {child !== undefined && child.durationMs === null ? <WaitBadge execution={child} /> : formatDuration(span.ms)}
      </span>
    </li>
  )
}

function Events({ execution }: { readonly execution: Execution }) {
  const { reason, createdAt, startedAt, completedAt, expiresAt, worker, attempt, status } = execution
  const events = [
    ['Received', createdAt, reason === 'approval' ? 'waits for approval' : undefined],
    ['Claimed and started', startedAt, worker === null ? undefined : `by ${worker}, attempt ${attempt}`],
    ['Ended', completedAt, status.toLowerCase()],
    ['Expires', reason === null ? null : expiresAt, 'if nothing happens before'],
  ] as const
  return (
    <ol className="mt-3 flex flex-col gap-1 border-t border-line pt-3 text-sm">
      {events.map(
        ([label, at, note]) =>
          at !== null && (
            <li key={label} className="flex flex-wrap gap-x-2">
              <span className="w-40 text-muted">{label}</span>
              <Time value={at} />
              <span className="min-w-0 text-muted break-words">
                <SafeText max={200}>{[new Date(at).toLocaleTimeString(), note].filter(Boolean).join(', ')}</SafeText>
              </span>
            </li>
          ),
      )}
    </ol>
  )
}
