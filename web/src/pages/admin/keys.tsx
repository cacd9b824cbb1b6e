import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import type { OperationInput, OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Checkbox, Field } from '../../ui/field.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'

type Key = OperationOutput<'keys.list'>['items'][number]
type Scope = Key['scopes'][number]

const scopes = {
  read: 'search and read tools and runs',
  call: 'call tools',
  write: 'change tools, approve calls',
  admin: 'keys, policies, secrets, sources',
} as const satisfies Record<Scope, string>
const scopeNames = Object.keys(scopes) as readonly Scope[]

/** The API keys: create, and revoke. */
export function Keys() {
  const [isOpen, setOpen] = useState(false)
  const { data, error, isPending, refetch } = useQuery({ queryKey: ['keys'], queryFn: () => api.keys.list() })
  return (
    <Card
      title="Keys"
      isFlush
      actions={
        <Button size="sm" tone="primary" icon={<Plus className="size-3.5" aria-hidden />} onClick={() => setOpen(true)}>
          Create a key
        </Button>
      }
    >
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows />}
      {data !== undefined && <KeyTable keys={data.items} />}
      {isOpen && <CreateKey onClose={() => setOpen(false)} />}
    </Card>
  )
}

const isEnded = ({ revokedAt, expiresAt }: Key): boolean =>
  revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= Date.now())

function KeyTable({ keys }: { readonly keys: readonly Key[] }) {
  const queries = useQueryClient()
  const revoke = async ({ id, name }: Key) => {
    await api.keys.revoke({ idOrName: id })
    showToast(`Revoked the key ${name}.`)
    await queries.invalidateQueries({ queryKey: ['keys'] })
  }
  return (
    <Table
      caption="Keys"
      rows={[...keys].sort((a, b) => Number(isEnded(a)) - Number(isEnded(b)))}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Name',
          cell: ({ name, prefix }) => (
            <>
              <span className="font-medium">
                <SafeText max={100}>{name}</SafeText>
              </span>
              <span className="block font-mono text-xs text-muted">{prefix}…</span>
            </>
          ),
        },
        {
          title: 'Scopes',
          cell: ({ scopes, codeMode, toolsets }) => (
            <div className="flex flex-wrap gap-1">
              {scopes.map((scope) => (
                <Badge key={scope} tone={scope === 'admin' ? 'accent' : 'neutral'}>
                  {scope}
                </Badge>
              ))}
              {codeMode && <Badge tone="info">code mode</Badge>}
              {toolsets?.map((name) => (
                <Badge key={name} tone="warn">
                  only {name}
                </Badge>
              ))}
            </div>
          ),
        },
        {
          title: 'Last used',
          isExtra: true,
          cell: ({ lastUsedAt }) => (lastUsedAt ? <Time value={lastUsedAt} /> : 'never'),
        },
        {
          title: 'Expires',
          isExtra: true,
          cell: ({ expiresAt }) => (expiresAt ? <Time value={expiresAt} /> : 'never'),
        },
        {
          title: 'Action',
          align: 'right',
          cell: (key) =>
            isEnded(key) ? (
              <span className="text-muted">{key.revokedAt === null ? 'expired' : 'revoked'}</span>
            ) : (
              <ConfirmButton
                label="Revoke"
                title={
                  <>
                    Revoke the key <SafeText max={100}>{key.name}</SafeText>?
                  </>
                }
                onConfirm={() => revoke(key)}
              >
                Its next request is refused, its open connections and sessions end at once, and it can never be used
                again.
              </ConfirmButton>
            ),
        },
      ]}
    />
  )
}

function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<readonly Scope[]>(['read', 'call'])
  const [days, setDays] = useState('')
  const [codeMode, setCodeMode] = useState(false)
  const [toolset, setToolset] = useState('')
  const create = useMutation({
    mutationFn: (input: OperationInput<'keys.create'>) => api.keys.create(input),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['keys'] }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate({
      name,
      scopes: scopeNames.filter((scope) => chosen.includes(scope)),
      codeMode,
      ...(days === '' ? {} : { expiresAt: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }),
      ...(toolset.trim() === '' ? {} : { toolsets: toolset.split(',').map((each) => each.trim()) }),
    })
  }
  if (create.data !== undefined)
    return (
      <Dialog
        title="Key created"
        description="Copy it now: it is shown only once, and cannot be read again."
        isOpen
        onClose={onClose}
        actions={
          <Button tone="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <CodeBlock label={create.data.name}>{create.data.secret}</CodeBlock>
      </Dialog>
    )
  return (
    <Dialog
      title="Create a key"
      description="Give each client its own key, with no more scopes than it needs."
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone="primary"
            type="submit"
            form="create-key"
            isBusy={create.isPending}
            disabled={chosen.length === 0}
          >
            Create
          </Button>
        </>
      }
    >
      <form id="create-key" onSubmit={submit} className="flex flex-col gap-3 pb-2">
        <Field
          label="Name"
          required
          placeholder="ci-runner"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <fieldset className="grid gap-2 sm:grid-cols-2">
          <legend className="mb-1 text-sm font-medium">Scopes</legend>
          {scopeNames.map((scope) => (
            <Checkbox
              key={scope}
              label={scope}
              hint={scopes[scope]}
              checked={chosen.includes(scope)}
              onChange={({ target }) =>
                setChosen(target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
              }
            />
          ))}
        </fieldset>
        <Checkbox
          label="Code mode"
          hint="Allow programs that call several tools."
          checked={codeMode}
          onChange={({ target }) => setCodeMode(target.checked)}
        />
        <div className="grid gap-3 sm:grid-cols-2">
          <Field
            label="Days until it expires"
            type="number"
            min={1}
            max={3650}
            placeholder="never"
            value={days}
            onChange={({ target }) => setDays(target.value)}
          />
          <Field
            label="Only these toolsets"
            placeholder="all tools"
            hint="Names, separated by commas."
            value={toolset}
            onChange={({ target }) => setToolset(target.value)}
          />
        </div>
        {create.error !== null && <ErrorNotice error={create.error} />}
      </form>
    </Dialog>
  )
}
