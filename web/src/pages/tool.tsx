import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Pencil } from 'lucide-react'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../api/client.ts'
import { useCaller } from '../api/session.ts'
import { Badge, StatusBadge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Page } from '../ui/page.tsx'
import { SafeText } from '../ui/safe-text.tsx'
import { SkeletonRows } from '../ui/skeleton.tsx'
import { type Tab, Tabs } from '../ui/tabs.tsx'
import { Overview } from './tool/overview.tsx'
import { Providers } from './tool/providers.tsx'
import { Runs } from './tool/runs.tsx'
import { Steps } from './tool/steps.tsx'
import { Versions } from './tool/versions.tsx'
import { TryIt } from './try/try-it.tsx'

type Doc = OperationOutput<'tools.doc'>

/** One tool: what agents read, and what a person does with it. */
export function ToolPage() {
  const { id } = useParams({ strict: false }) as { readonly id: string }
  const {
    data: doc,
    error,
    isPending,
    refetch,
  } = useQuery({
    queryKey: ['doc', id, 'full'],
    queryFn: () => api.tools.doc({ idOrName: id, level: 'full' }),
  })
  if (error !== null)
    return (
      <Page title="Tool">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </Page>
    )
  if (isPending)
    return (
      <Page title="Tool">
        <SkeletonRows rows={8} />
      </Page>
    )
  return <ToolDetails key={doc.id} doc={doc} />
}

function ToolDetails({ doc }: { readonly doc: Doc }) {
  const { tab = 'overview' } = useSearch({ strict: false })
  const navigate = useNavigate()
  const registered = useRegistered(doc).data
  const mayWrite = useCaller().data?.scopes.includes('write') === true
  const tabs: readonly Tab[] = [
    { id: 'overview', label: 'Overview', content: <Overview doc={doc} /> },
    { id: 'try', label: 'Try it', content: <TryIt doc={doc} registered={registered} /> },
    ...(registered === undefined
      ? []
      : [{ id: 'versions', label: 'Versions', content: <Versions tool={registered} /> }]),
    { id: 'runs', label: 'Runs', content: <Runs tool={doc.name} /> },
    { id: 'providers', label: 'Providers', content: <Providers id={doc.id} /> },
  ]
  return (
    <Page
      title={doc.name.slice(0, 100)}
      heading={<SafeText max={200}>{doc.name}</SafeText>}
      description={<SafeText max={300}>{doc.summary}</SafeText>}
      actions={
        registered !== undefined && (
          <>
            {mayWrite && (
              <Button
                icon={<Pencil className="size-3.5" aria-hidden />}
                onClick={() => void navigate({ to: '/tools/$id/edit', params: { id: doc.id } })}
              >
                Edit
              </Button>
            )}
            <Steps tool={registered} />
          </>
        )
      }
    >
      <div className="flex flex-wrap gap-1.5">
        {registered !== undefined && <StatusBadge status={registered.status} />}
        {registered !== undefined && <Badge>version {registered.version}</Badge>}
        {doc.namespace !== undefined && (
          <Badge>
            <SafeText max={60}>{doc.namespace}</SafeText>
          </Badge>
        )}
        {doc.isolation !== undefined && (
          <Badge tone={doc.isolation === 'isolated' ? 'ok' : 'neutral'}>{doc.isolation}</Badge>
        )}
        {doc.tags.slice(0, 20).map((tag) => (
          <Badge key={tag} tone="accent">
            <SafeText max={40}>{tag}</SafeText>
          </Badge>
        ))}
      </div>
      {doc.readiness !== undefined && (
        <p role="status" className="rounded-md bg-warn-soft p-3 text-sm text-warn">
          This tool cannot be called now: <SafeText max={300}>{doc.readiness.reason ?? doc.readiness.state}</SafeText>
        </p>
      )}
      <Tabs
        label="Sections of the tool"
        tabs={tabs}
        value={tabs.some(({ id }) => id === tab) ? tab : 'overview'}
        onChange={(next) =>
          void navigate({ to: '/tools/$id', params: { id: doc.id }, search: { tab: next }, replace: true })
        }
      />
    </Page>
  )
}

/** The registered tool of a document; undefined for tools of configs and upstreams. It is found by its name, so that others are no error. */
const useRegistered = ({ name, namespace, id }: Doc) =>
  useQuery({
    queryKey: ['registered', id],
    queryFn: async () => {
      const { items } = await api.tools.list({ search: name, limit: 100 })
      const found = items.filter((tool) => tool.name === name && (tool.namespace ?? undefined) === namespace)
      return found[0] ?? null
    },
    select: (tool) => tool ?? undefined,
  })
