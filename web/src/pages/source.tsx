import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Pencil, RefreshCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { TooldexError } from 'tooldex/client'
import { api } from '../api/client.ts'
import { useCaller } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { type Fact, Facts } from '../ui/facts.tsx'
import { Select } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import { SafeText } from '../ui/safe-text.tsx'
import { SkeletonRows } from '../ui/skeleton.tsx'
import { Time } from '../ui/time.tsx'
import { showToast } from '../ui/toast.tsx'
import { ServerDialog } from './source/add-server.tsx'
import { Approval, type Source } from './source/approval.tsx'
import { Changes } from './source/changes.tsx'
import { Items } from './source/items.tsx'
import { toServerChange, toServerForm } from './source/parse-server.ts'
import { SignIn } from './source/sign-in.tsx'
import { SourceBadge } from './source/source-badge.tsx'

const refreshMs = 10_000

/** One MCP server: its approval, its state, changes that wait for a decision, and what it offers. */
export function SourcePage() {
  const { name } = useParams({ strict: false }) as { readonly name: string }
  const queries = useQueryClient()
  const {
    data: source,
    error,
    isPending,
    refetch,
  } = useQuery({
    queryKey: ['sources', name],
    queryFn: () => api.sources.get({ name }),
    refetchInterval: refreshMs,
  })
  const show = (changed: Source) => {
    queries.setQueryData(['sources', name], changed)
    void queries.invalidateQueries({ queryKey: ['sources'], exact: true })
  }
  return (
    <Page
      title={name}
      heading={
        <span className="flex flex-wrap items-center gap-3">
          <SafeText max={100}>{name}</SafeText>
          {source !== undefined && <SourceBadge state={source.state} />}
        </span>
      }
      description="An MCP server as a source of tools."
      actions={source?.approval !== undefined && <Actions source={source} onChange={show} />}
    >
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows />}
      {source !== undefined && (
        <>
          {!source.isApproved && <Approval source={source} onChange={show} />}
          {source.isApproved && <SignIn source={source} onChange={() => void refetch()} />}
          <LastFailure source={source} />
          <Changes source={source} onChange={show} />
          <Card title="Details">
            <Facts facts={factsOf(source, show)} />
          </Card>
          <Items source={source} />
        </>
      )}
    </Page>
  )
}

interface ChangeableProps {
  readonly source: Source
  readonly onChange: (source: Source) => void
}

function Actions({ source, onChange }: ChangeableProps) {
  const { name, isApproved, tools, server } = source
  const [isEditing, setEditing] = useState(false)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const refresh = useMutation({
    mutationFn: () => api.sources.refresh({ name }),
    onSuccess: (source) => {
      onChange(source)
      showToast(`Read ${name} again.`)
    },
    onError: async ({ message }) => {
      showToast(message, { isError: true })
      await queries.invalidateQueries({ queryKey: ['sources', name] })
    },
  })
  const remove = async () => {
    await api.sources.remove({ name })
    showToast(`Removed ${name}.`)
    await navigate({ to: '/sources' })
    queries.removeQueries({ queryKey: ['sources', name] })
    await queries.invalidateQueries({ queryKey: ['sources'] })
  }
  return (
    <>
      {isApproved && (
        <Button
          size="sm"
          icon={<RefreshCw className="size-3.5" aria-hidden />}
          isBusy={refresh.isPending}
          onClick={() => refresh.mutate()}
        >
          {source.state === 'failed' ? 'Try again' : 'Read again'}
        </Button>
      )}
      {server !== undefined && (
        <Button size="sm" icon={<Pencil className="size-3.5" aria-hidden />} onClick={() => setEditing(true)}>
          Edit
        </Button>
      )}
      {isEditing && server !== undefined && (
        <ServerDialog
          title={
            <>
              Edit <SafeText max={100}>{name}</SafeText>
            </>
          }
          action="Save"
          start={toServerForm(name, server)}
          onClose={() => setEditing(false)}
          onSave={async (form) => {
            onChange(await api.sources.change(toServerChange(form, toServerForm(name, server))))
            setEditing(false)
            showToast(`Saved ${name}.`)
          }}
        />
      )}
      <ConfirmButton
        label="Remove"
        icon={<Trash2 className="size-3.5" aria-hidden />}
        title={
          <>
            Remove <SafeText max={100}>{name}</SafeText>?
          </>
        }
        onConfirm={remove}
      >
        Its server is stopped, and its {tools} tools leave the catalog at once. Recorded runs and stored secrets stay.
      </ConfirmButton>
    </>
  )
}

function LastFailure({ source: { lastFailure, lastSuccessAt } }: { readonly source: Source }) {
  if (lastFailure === null || (lastSuccessAt !== null && lastSuccessAt > lastFailure.at)) return null
  const hint = 'Check the command or URL: choose Edit to change it, or Try again.'
  return <ErrorNotice error={new TooldexError('UNAVAILABLE', `The server ${lastFailure.reason}.`, { hint })} />
}

function factsOf(source: Source, onChange: (source: Source) => void): readonly Fact[] {
  const { transport, serverInfo, protocolVersion, readAt, lastSuccessAt, approval, instructions } = source
  return [
    ['Connection', transport === 'stdio' ? 'Program' : 'URL'],
    ['Changed definitions', <Trust key="trust" source={source} onChange={onChange} />],
    [
      'Command or URL',
      approval && source.isApproved && (
        <span className="font-mono text-xs break-all">
          <SafeText max={500}>{approval.command}</SafeText>
        </span>
      ),
    ],
    ['Server', serverInfo && <SafeText max={200}>{`${serverInfo.name} ${serverInfo.version}`}</SafeText>],
    ['Protocol', protocolVersion],
    ['Definitions read', readAt && <Time value={readAt} />],
    ['Last start', lastSuccessAt && <Time value={lastSuccessAt} />],
    ['Instructions', instructions && <SafeText max={500}>{instructions}</SafeText>],
  ]
}

const trusts = {
  hold: 'Wait for a decision',
  trusted: 'Accept harmless ones',
  pinned: 'Never accept',
} as const
const isTrust = (text: string): text is keyof typeof trusts => Object.hasOwn(trusts, text)

function Trust({ source: { name, trust, approval }, onChange }: ChangeableProps) {
  const { data: caller } = useCaller()
  if (approval === undefined || caller?.scopes.includes('admin') !== true) return trusts[trust]
  const choose = async (value: string) => {
    if (!isTrust(value)) return
    try {
      onChange(await api.sources.change({ name, trust: value }))
    } catch (thrown) {
      showToast(thrown instanceof Error ? thrown.message : String(thrown), { isError: true })
    }
  }
  return (
    <Select label="Changed definitions" hideLabel value={trust} onChange={({ target }) => void choose(target.value)}>
      {Object.entries(trusts).map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </Select>
  )
}
