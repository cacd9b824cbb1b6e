import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Unplug } from 'lucide-react'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../api/client.ts'
import { useCaller } from '../api/session.ts'
import { Badge } from '../ui/badge.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Page } from '../ui/page.tsx'
import { SafeText } from '../ui/safe-text.tsx'
import { SkeletonRows } from '../ui/skeleton.tsx'
import { Table } from '../ui/table.tsx'
import { AddServer } from './source/add-server.tsx'
import { SourceBadge } from './source/source-badge.tsx'

type Source = OperationOutput<'catalog.sources'>['items'][number]

const refreshMs = 5000
const kinds = { config: 'Config', registry: 'Registry', mcp: 'MCP server' } as const

/** Where tools come from: configs, the registry and MCP servers. */
export function SourcesPage() {
  const { data: caller } = useCaller()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['sources'],
    queryFn: () => api.catalog.sources(),
    refetchInterval: refreshMs,
  })
  const isAdmin = caller?.scopes.includes('admin') === true
  const hasServers = data?.items.some(({ kind }) => kind === 'mcp') === true
  return (
    <Page
      title="Sources"
      description="Where tools come from: configs, the registry, and MCP servers."
      actions={isAdmin && <AddServer />}
    >
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows />}
      {data !== undefined && (
        <Card isFlush title="Sources">
          <SourceTable sources={data.items} />
          {!hasServers && (
            <EmptyState icon={<Unplug aria-hidden />} title="No MCP servers yet.">
              {isAdmin
                ? 'Add one, and its tools are in the catalog, searchable and governed by your policies. You see the exact command before it runs.'
                : 'An administrator can add MCP servers; their tools are then in the catalog.'}
            </EmptyState>
          )}
        </Card>
      )}
    </Page>
  )
}

function SourceTable({ sources }: { readonly sources: readonly Source[] }) {
  return (
    <Table
      caption="Sources"
      rows={[...sources].sort((a, b) => Number(b.kind === 'mcp') - Number(a.kind === 'mcp'))}
      keyOf={({ kind, name }) => `${kind} ${name}`}
      columns={[
        { title: 'Name', cell: (source) => <SourceName source={source} /> },
        {
          title: 'Kind',
          isExtra: true,
          cell: ({ kind, transport }) => `${kinds[kind]}${transport === undefined ? '' : `, ${transport}`}`,
        },
        {
          title: 'State',
          cell: ({ state, waiting = 0, signIn }) => (
            <div className="flex flex-wrap gap-1">
              <SourceBadge state={state} />
              {signIn?.isSignedIn === false && <Badge tone="warn">Sign in</Badge>}
              {waiting > 0 && (
                <Badge tone="warn">
                  {waiting} {waiting === 1 ? 'change' : 'changes'}
                </Badge>
              )}
            </div>
          ),
        },
        {
          title: 'Problem',
          isExtra: true,
          className: 'max-w-96',
          cell: ({ problem, warnings }) => (
            <SafeText max={200}>{problem ?? (warnings > 0 ? `${warnings} warnings` : '')}</SafeText>
          ),
        },
        { title: 'Tools', align: 'right', cell: ({ tools }) => tools.toLocaleString('en') },
      ]}
    />
  )
}

function SourceName({ source: { kind, name, registered } }: { readonly source: Source }) {
  const text = <SafeText max={120}>{name}</SafeText>
  if (kind === 'mcp')
    return (
      <Link to="/sources/$name" params={{ name }} className="font-medium text-accent hover:underline">
        {text}
      </Link>
    )
  return (
    <>
      <span className="font-medium">{text}</span>
      {registered !== undefined && <span className="ml-1.5 text-xs text-muted">{registered} registered</span>}
    </>
  )
}
