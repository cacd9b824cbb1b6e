import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useCaller } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { AddServer } from '../source/add-server.tsx'

const script = `def main(args):
    words = args["text"].split()
    return {"words": len(words), "longest": max(words, key=len, default="")}
`

/** Three ways to the first tool that work at once. */
export function FirstSteps() {
  const isAdmin = useCaller().data?.scopes.includes('admin') === true
  return (
    <section aria-label="First steps" className="grid gap-5 lg:grid-cols-3">
      <Card title="1. The commands of this machine">
        <p className="mb-3 text-sm text-muted">Configs for git, docker, gh and ten more programs come with Tooldex.</p>
        <CodeBlock label="Start the server with them">tooldex serve --bundled</CodeBlock>
      </Card>
      <PythonTool />
      <Card title="3. An MCP server">
        <p className="mb-3 text-sm text-muted">
          Its tools are searched, governed and recorded like all others. You see the exact command before it runs.
        </p>
        {isAdmin && (
          <div className="mb-3">
            <AddServer />
          </div>
        )}
        <CodeBlock label={isAdmin ? 'or on the command line' : 'On the command line'}>
          tooldex add files -- npx -y @modelcontextprotocol/server-filesystem .
        </CodeBlock>
      </Card>
    </section>
  )
}

function PythonTool() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const mayWrite = useCaller().data?.scopes.includes('write') === true
  const create = useMutation({
    mutationFn: async () => {
      const { id } = await api.tools.create({
        name: 'count_words',
        displayName: 'Count words',
        description: 'Counts the words of a text and names the longest.',
        executorType: 'python',
        inputSchema: {
          type: 'object',
          required: ['text'],
          properties: { text: { type: 'string', description: 'The text' } },
        },
        scriptContent: script,
      })
      return api.tools.activate({ idOrName: id })
    },
    onSuccess: ({ id }) => {
      void queries.invalidateQueries()
      void navigate({ to: '/tools/$id', params: { id }, search: { tab: 'try' } })
    },
  })
  return (
    <Card title="2. A Python tool">
      <p className="mb-3 text-sm text-muted">A function in a sandbox. This one counts words; try it, then change it.</p>
      <Button tone="primary" disabled={!mayWrite} isBusy={create.isPending} onClick={() => create.mutate()}>
        Create count_words
      </Button>
      {create.error !== null && <ErrorNotice error={create.error} />}
    </Card>
  )
}
