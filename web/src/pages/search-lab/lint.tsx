import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { SearchCheck } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useCaller } from '../../api/session.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { ApplyFix } from './apply-fix.tsx'

const tones: Readonly<Record<string, Tone>> = { error: 'bad', warning: 'warn', info: 'info' }
const pageSize = 100

const Severity = ({ of }: { readonly of: string }) => <Badge tone={tones[of] ?? 'neutral'}>{of}</Badge>
const counted = (count: number, noun: string) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

/** What makes tools hard to find, to distinguish or to call. */
export function Lint() {
  const [shown, setShown] = useState(pageSize)
  const mayWrite = useCaller().data?.scopes.includes('write') === true
  const { data, error, isPending, refetch } = useQuery({ queryKey: ['lint'], queryFn: () => api.catalog.lint() })
  return (
    <Card
      title="Findings"
      isFlush
      actions={data && <span className="text-xs text-muted">Score {data.score.toFixed(0)} of 100</span>}
    >
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows rows={6} />}
      {data !== undefined && (
        <p className="border-b border-line px-4 py-3 text-sm text-muted">
          {counted(data.tools, 'tool')}, {counted(data.tokens, 'token')}; {counted(data.counts.error, 'error')},{' '}
          {counted(data.counts.warning, 'warning')}, {counted(data.counts.info, 'note')}
        </p>
      )}
      {data?.findings.length === 0 && (
        <EmptyState icon={<SearchCheck aria-hidden />} title="No findings.">
          Every tool has what agents need to find it and to call it.
        </EmptyState>
      )}
      {data !== undefined && data.findings.length > 0 && (
        <Table
          caption="Findings"
          rows={data.findings.slice(0, shown)}
          keyOf={({ rule, tool, message }) => `${rule} ${tool} ${message}`}
          columns={[
            {
              title: 'Severity',
              isExtra: true,
              cell: ({ severity }) => <Severity of={severity} />,
            },
            {
              title: 'Tool',
              className: 'break-words',
              cell: ({ tool, rule, severity }) => (
                <>
                  <Link to="/tools/$id" params={{ id: tool }} className="font-medium text-accent hover:underline">
                    <SafeText max={120}>{tool}</SafeText>
                  </Link>
                  <span className="block text-xs text-muted">{rule}</span>
                  <span className="mt-1 block sm:hidden">
                    <Severity of={severity} />
                  </span>
                </>
              ),
            },
            {
              title: 'Finding',
              cell: ({ tool, message, hint, fix }) => (
                <>
                  <SafeText max={300}>{message}</SafeText>
                  <span className="block text-xs text-muted">
                    <SafeText max={300}>{hint}</SafeText>
                  </span>
                  {fix !== undefined && mayWrite && (
                    <span className="mt-1.5 block">
                      <ApplyFix tool={tool} fix={fix} />
                    </span>
                  )}
                </>
              ),
            },
          ]}
        />
      )}
      {data !== undefined && data.findings.length > shown && (
        <div className="flex justify-center border-t border-line p-3">
          <Button size="sm" onClick={() => setShown(shown + pageSize)}>
            {data.findings.length - shown} more
          </Button>
        </div>
      )}
    </Card>
  )
}
