import { useMutation, useQuery } from '@tanstack/react-query'
import { CircleCheck, Plug } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useCaller } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Field } from '../../ui/field.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { connectionsTo } from './connect-texts.ts'

const checkMs = 2000
const defaultName = () => `agent-${new Date().toISOString().slice(0, 16).replace(/\D/g, '')}`

/** Connects a client: a fresh key with the scope call, what to run or paste, and a tick when the key has been used. */
export function Connect() {
  const isAdmin = useCaller().data?.scopes.includes('admin') === true
  const [name, setName] = useState(defaultName)
  const create = useMutation({ mutationFn: () => api.keys.create({ name, scopes: ['call'] }) })
  const made = create.data
  return (
    <Card title="Connect a client">
      {!isAdmin && (
        <p className="text-sm text-muted">
          Agents connect to <code className="font-mono text-xs">{location.origin}/mcp</code> with a key. Ask an
          administrator for one.
        </p>
      )}
      {isAdmin && made === undefined && (
        <form
          className="flex flex-wrap items-end gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            create.mutate()
          }}
        >
          <div className="min-w-52 flex-1">
            <Field
              label="Name of the new key"
              value={name}
              required
              maxLength={100}
              onChange={(event) => setName(event.target.value)}
            />
          </div>
          <Button
            type="submit"
            tone="primary"
            isBusy={create.isPending}
            icon={<Plug className="size-3.5" aria-hidden />}
          >
            Create a key
          </Button>
          <p className="w-full text-xs text-muted">The key may search and call tools, and is shown only once.</p>
        </form>
      )}
      {create.error !== null && <ErrorNotice error={create.error} />}
      {made !== undefined && <Instructions keyId={made.id} secret={made.secret} />}
    </Card>
  )
}

function Instructions({ keyId, secret }: { readonly keyId: string; readonly secret: string }) {
  const [client, setClient] = useState('claude-code')
  return (
    <div className="flex flex-col gap-4">
      <Tick keyId={keyId} />
      <Tabs
        label="Clients"
        value={client}
        onChange={setClient}
        tabs={connectionsTo(location.origin, secret).map(({ id, title, command, file, entry }) => ({
          id,
          label: title,
          content: (
            <div className="flex flex-col gap-3">
              <CodeBlock label="Run">{command}</CodeBlock>
              <CodeBlock label={`or paste into ${file}`}>{entry}</CodeBlock>
            </div>
          ),
        }))}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <CodeBlock label="MCP endpoint">{`${location.origin}/mcp`}</CodeBlock>
        <CodeBlock label="Key">{secret}</CodeBlock>
      </div>
    </div>
  )
}

/** Waits until the key is used for the first time. */
function Tick({ keyId }: { readonly keyId: string }) {
  const { data: isConnected = false } = useQuery({
    queryKey: ['keys', keyId, 'used'],
    queryFn: async () =>
      (await api.keys.list()).items.some(({ id, lastUsedAt }) => id === keyId && lastUsedAt !== null),
    refetchInterval: ({ state }) => (state.data === true ? false : checkMs),
  })
  return (
    <p role="status" className="flex items-center gap-2 text-sm font-medium">
      {isConnected ? (
        <>
          <CircleCheck className="size-4 text-ok" aria-hidden /> Connected: the key has been used.
        </>
      ) : (
        <>
          <span
            className="size-3.5 animate-spin rounded-full border-2 border-accent border-t-transparent"
            aria-hidden
          />
          Waiting for the first request with this key
        </>
      )}
    </p>
  )
}
