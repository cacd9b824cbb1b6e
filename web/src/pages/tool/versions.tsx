import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { History } from 'lucide-react'
import { useState } from 'react'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { useCaller } from '../../api/session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { cx } from '../../ui/cx.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Time } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'
import { VersionDiff } from './version-diff.tsx'

type Registered = OperationOutput<'registry.get'>
type Version = OperationOutput<'versions.get'>

/** The versions of a tool as a timeline, the difference between two, and the way back. */
export function Versions({ tool }: { readonly tool: Registered }) {
  const { version } = useSearch({ strict: false })
  const navigate = useNavigate()
  const { data, error, isPending } = useQuery({
    queryKey: ['versions', tool.id, tool.version],
    queryFn: () => api.versions.list({ idOrName: tool.id, limit: 100 }),
  })
  if (error !== null) return <ErrorNotice error={error} />
  if (isPending) return <SkeletonRows />
  const chosen = data.items.find((each) => String(each.version) === version) ?? data.items[0]
  const choose = (next: Version) =>
    void navigate({ to: '.', search: (before) => ({ ...before, version: String(next.version) }), replace: true })
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[18rem_minmax(0,1fr)]">
      <Card title="Timeline" isFlush>
        <ol className="max-h-[36rem] overflow-y-auto py-1">
          {data.items.map((each) => (
            <li key={each.id}>
              <button
                type="button"
                aria-pressed={each === chosen}
                onClick={() => choose(each)}
                className={cx(
                  'flex w-full gap-3 px-4 py-2 text-left text-sm hover:bg-hover',
                  each === chosen && 'bg-hover',
                )}
              >
                <span
                  aria-hidden
                  className={cx('mt-1.5 size-2 shrink-0 rounded-full', each.isLatest ? 'bg-accent' : 'bg-line-strong')}
                />
                <span className="min-w-0">
                  <span className="font-medium">Version {each.version}</span>
                  {each.isLatest && <span className="ml-2 text-xs text-muted">latest</span>}
                  <span className="block text-xs break-words text-muted">
                    <SafeText max={200}>{each.changelog ?? (each.version === 1 ? 'created' : 'changed')}</SafeText>
                  </span>
                  <span className="block text-xs text-muted">
                    <Time value={each.createdAt} />
                    {each.createdBy !== null && (
                      <>
                        {' by '}
                        <SafeText max={80}>{each.createdBy}</SafeText>
                      </>
                    )}
                  </span>
                </span>
              </button>
            </li>
          ))}
        </ol>
      </Card>
      {chosen !== undefined && <VersionDetails key={chosen.id} tool={tool} chosen={chosen} />}
    </div>
  )
}

function VersionDetails({ tool, chosen }: { readonly tool: Registered; readonly chosen: Version }) {
  const { version, isLatest } = chosen
  const range = isLatest ? { from: Math.max(version - 1, 1), to: version } : { from: version, to: tool.version }
  const { data, error, isPending } = useQuery({
    queryKey: ['diff', tool.id, range],
    queryFn: () => api.versions.diff({ idOrName: tool.id, ...range }),
  })
  return (
    <Card
      title={version === 1 && isLatest ? 'The only version' : `Version ${range.from} compared with version ${range.to}`}
      actions={!isLatest && <Rollback tool={tool} version={version} />}
    >
      {error !== null && <ErrorNotice error={error} />}
      {isPending && <SkeletonRows />}
      {data !== undefined && <VersionDiff diff={data} />}
    </Card>
  )
}

function Rollback({ tool, version }: { readonly tool: Registered; readonly version: number }) {
  const queries = useQueryClient()
  const mayWrite = useCaller().data?.scopes.includes('write') === true
  const [isOpen, setOpen] = useState(false)
  const restore = useMutation({
    mutationFn: () => api.versions.rollback({ idOrName: tool.id, version, expectedVersion: tool.version }),
    onSuccess: (written) => {
      setOpen(false)
      showToast(`Version ${written.version} has the content of version ${version}.`)
      void queries.invalidateQueries()
    },
  })
  if (!mayWrite) return <Badge>read only</Badge>
  return (
    <>
      <Button size="sm" icon={<History className="size-3.5" aria-hidden />} onClick={() => setOpen(true)}>
        Roll back to version {version}
      </Button>
      <Dialog
        title={`Roll back to version ${version}?`}
        description={`Version ${tool.version + 1} is created with the content of version ${version}. Callers get it with their next call.`}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        actions={
          <>
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button tone="primary" isBusy={restore.isPending} onClick={() => restore.mutate()}>
              Roll back
            </Button>
          </>
        }
      >
        {restore.error !== null && <ErrorNotice error={restore.error} />}
      </Dialog>
    </>
  )
}
