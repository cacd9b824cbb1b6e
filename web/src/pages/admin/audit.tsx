import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { CircleCheck, ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Field } from '../../ui/field.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

type Entry = OperationOutput<'audit.list'>['items'][number]

const pageSize = 50

/** The audit log, and the verification of its chain. */
export function Audit() {
  const [subject, setSubject] = useState('')
  const [entry, setEntry] = useState<Entry>()
  const log = useInfiniteQuery({
    queryKey: ['audit', subject],
    queryFn: ({ pageParam }) =>
      api.audit.list({ limit: pageSize, ...(subject && { subject }), ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
  const rows = log.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <div className="flex flex-col gap-5">
      <Verification />
      <Field
        label="Subject"
        type="search"
        placeholder="tool:send_report"
        hint="The whole subject of a change, such as key:ci; Enter applies it."
        onBlur={({ target }) => setSubject(target.value.trim())}
        onKeyDown={(event) => event.key === 'Enter' && setSubject(event.currentTarget.value.trim())}
      />
      <Card title="Changes" isFlush>
        {log.error !== null && <ErrorNotice error={log.error} onRetry={() => void log.refetch()} />}
        {log.isPending && <SkeletonRows rows={8} />}
        <Table
          caption="Changes"
          rows={rows}
          keyOf={({ sequence, at, subject }) => `${sequence} ${at} ${subject}`}
          columns={[
            { title: 'When', cell: ({ at }) => <Time value={at} /> },
            { title: 'Caller', isExtra: true, cell: ({ actor }) => <SafeText max={100}>{actor}</SafeText> },
            { title: 'Action', cell: ({ action }) => <SafeText max={100}>{action}</SafeText> },
            {
              title: 'Subject',
              className: 'break-all',
              cell: (row) => (
                <button type="button" className="text-left text-accent hover:underline" onClick={() => setEntry(row)}>
                  <SafeText max={120}>{row.subject.slice(0, 120)}</SafeText>
                </button>
              ),
            },
          ]}
        />
      </Card>
      {log.hasNextPage && (
        <Button className="self-center" isBusy={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          Load older changes
        </Button>
      )}
      {entry !== undefined && (
        <Dialog
          title={<SafeText max={200}>{`${entry.action} ${entry.subject}`}</SafeText>}
          isOpen
          onClose={() => setEntry(undefined)}
        >
          <div className="flex flex-col gap-3 pb-3">
            <JsonView label="Before" value={entry.before ?? null} />
            <JsonView label="After" value={entry.after ?? null} />
            <p className="font-mono text-xs break-all text-muted">
              {entry.sequence === null ? 'outside the chain' : `row ${entry.sequence}, ${entry.hash}`}
            </p>
          </div>
        </Dialog>
      )}
    </div>
  )
}

function Verification() {
  const verify = useMutation({ mutationFn: () => api.audit.verify({}) })
  const { data } = verify
  return (
    <Card
      title="Verification"
      actions={
        <Button
          size="sm"
          icon={<ShieldCheck className="size-3.5" aria-hidden />}
          isBusy={verify.isPending}
          onClick={() => verify.mutate()}
        >
          Verify the log
        </Button>
      }
    >
      <div className="flex flex-col gap-2 text-sm" aria-live="polite">
        {data === undefined && (
          <p className="text-muted">Each row covers the row before it, so a changed or removed row is found.</p>
        )}
        {verify.error !== null && <ErrorNotice error={verify.error} />}
        {data?.intact === true && (
          <p className="flex gap-2 text-ok">
            <CircleCheck className="mt-0.5 size-4 shrink-0" aria-hidden />
            {data.rows.toLocaleString('en')} rows are intact.
          </p>
        )}
        {data?.head && (
          <p className="font-mono text-xs break-all text-muted">
            Row {data.head.sequence}: {data.head.hash}
          </p>
        )}
        {data?.firstBreak && (
          <p className="text-bad">
            <SafeText
              max={500}
            >{`The chain breaks at row ${data.firstBreak.sequence}: ${data.firstBreak.message}`}</SafeText>
          </p>
        )}
      </div>
    </Card>
  )
}
