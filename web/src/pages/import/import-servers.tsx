import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { Table } from '../../ui/table.tsx'
import type { ClientServer } from './read-servers.ts'

interface Added {
  readonly name: string
  /** Why it was not added. */
  readonly refusal?: string
}

/** Adds the servers of a client configuration as sources; each is approved on its own page. */
export function ImportServers({ servers }: { readonly servers: readonly ClientServer[] }) {
  const queries = useQueryClient()
  const add = useMutation({
    mutationFn: async () => {
      const added: Added[] = []
      for (const server of servers.filter(isAddable)) added.push(await addOne(server))
      await queries.invalidateQueries({ queryKey: ['sources'] })
      return added
    },
  })
  const isAddable = ({ fields }: ClientServer) => fields !== undefined
  const stateOf = ({ name, skipped }: ClientServer): Added | undefined =>
    skipped === undefined
      ? add.data?.find((each) => each.name === name)
      : { name, refusal: `Not imported: ${skipped}.` }
  return (
    <Card
      title={`MCP servers (${servers.length})`}
      isFlush
      actions={
        <Button
          size="sm"
          tone="primary"
          disabled={!servers.some(isAddable) || add.data !== undefined}
          isBusy={add.isPending}
          onClick={() => add.mutate()}
        >
          Add as sources
        </Button>
      }
    >
      <p className="p-4 text-sm text-muted">
        Nothing is started: each server waits for the approval of its exact command. Literal values with the name of a
        secret are stored encrypted.
      </p>
      <Table
        caption="MCP servers"
        rows={servers}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Name', cell: ({ name }) => <SafeText max={100}>{name}</SafeText> },
          {
            title: 'Command or URL',
            className: 'font-mono text-xs break-all',
            cell: ({ fields: { command = '', args = [], url } = {} }) => (
              <SafeText max={500}>{url ?? [command, ...args].join(' ')}</SafeText>
            ),
          },
          {
            title: 'State',
            cell: (server) => {
              const state = stateOf(server)
              if (state === undefined) return <Badge>to be added</Badge>
              if (state.refusal !== undefined) return <SafeText max={300}>{state.refusal}</SafeText>
              return (
                <Link to="/sources/$name" params={{ name: server.name }} className="text-accent underline">
                  Review and approve
                </Link>
              )
            },
          },
        ]}
      />
    </Card>
  )
}

async function addOne({ name, fields = {} }: ClientServer): Promise<Added> {
  try {
    await api.sources.add({ name, ...fields })
    return { name }
  } catch (thrown) {
    return { name, refusal: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}
