import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'

const formats = [
  ['mcp', 'MCP'],
  ['openai', 'OpenAI'],
  ['anthropic', 'Anthropic'],
  ['gemini', 'Gemini'],
] as const
type Format = (typeof formats)[number][0]

/** The definition of a tool for each provider, with what it loses there. */
export function Providers({ id }: { readonly id: string }) {
  const [format, setFormat] = useState('mcp')
  const tabs = [
    ...formats.map(([each, label]) => ({ id: each, label, content: <Definition id={id} format={each} /> })),
    { id: 'typescript', label: 'TypeScript', content: <Declaration id={id} /> },
  ]
  return <Tabs label="Providers" tabs={tabs} value={format} onChange={setFormat} />
}

function Definition({ id, format }: { readonly id: string; readonly format: Format }) {
  const { data, isPending, error } = useQuery({
    queryKey: ['definition', id, format],
    queryFn: () => api.llm.get({ name: id, format }),
  })
  if (error !== null) return <NotOffered message={error.message} />
  if (isPending) return <SkeletonRows />
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <CodeBlock label={data.name}>{JSON.stringify(data.definition, null, 2)}</CodeBlock>
      <Card title="Losses" isFlush>
        {data.losses.length === 0 ? (
          <EmptyState title="Nothing is lost.">The definition says all that the tool declares.</EmptyState>
        ) : (
          <Table
            caption="Losses"
            rows={data.losses}
            keyOf={({ pointer, lost }) => `${pointer} ${lost}`}
            columns={[
              {
                title: 'Place',
                cell: ({ pointer }) => (
                  <code className="font-mono text-xs break-all">
                    <SafeText max={200}>{pointer}</SafeText>
                  </code>
                ),
              },
              { title: 'Lost', cell: ({ lost }) => <SafeText max={200}>{lost}</SafeText> },
              { title: 'Why', cell: ({ why }) => <SafeText max={300}>{why}</SafeText> },
            ]}
          />
        )}
      </Card>
    </div>
  )
}

function Declaration({ id }: { readonly id: string }) {
  const { data, isPending, error } = useQuery({
    queryKey: ['declaration', id],
    queryFn: () => api.tools.doc({ idOrName: id, level: 'schema', format: 'typescript' }),
  })
  if (error !== null) return <NotOffered message={error.message} />
  if (isPending) return <SkeletonRows />
  return <CodeBlock label="TypeScript">{data.typescript ?? ''}</CodeBlock>
}

function NotOffered({ message }: { readonly message: string }) {
  return (
    <EmptyState title="There is no definition.">
      <SafeText max={300}>{message}</SafeText> Only tools that are offered to agents have definitions.
    </EmptyState>
  )
}
