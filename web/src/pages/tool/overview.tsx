import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { JsonTree } from '../../ui/json-tree.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import type { FormSchema } from '../try/form-values.ts'
import { Policies } from './policies.tsx'
import { SchemaFields } from './schema-fields.tsx'

type Doc = OperationOutput<'tools.doc'>

const levels = ['summary', 'schema', 'full'] as const

/** The description, the schema as fields, examples, policies, and what agents read at each level. */
export function Overview({ doc }: { readonly doc: Doc }) {
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <div className="flex min-w-0 flex-col gap-5">
        <Card title="Description">
          <p className="break-words whitespace-pre-wrap">
            <SafeText>{doc.tool?.description ?? doc.summary}</SafeText>
          </p>
          {doc.notes !== undefined && (
            <p className="mt-3 border-t border-line pt-3 text-sm break-words whitespace-pre-wrap text-muted">
              <SafeText max={2000}>{doc.notes}</SafeText>
            </p>
          )}
        </Card>
        <Card title="Arguments" isFlush>
          <SchemaFields schema={(doc.tool?.inputSchema ?? {}) as FormSchema} />
        </Card>
        {doc.tool?.outputSchema !== undefined && (
          <Card title="Output" isFlush>
            <SchemaFields schema={doc.tool.outputSchema as FormSchema} />
          </Card>
        )}
      </div>
      <div className="flex min-w-0 flex-col gap-5">
        <Levels id={doc.id} />
        <Requests doc={doc} />
        <Policies tool={doc.name} />
        <Annotations annotations={doc.annotations} />
      </div>
    </div>
  )
}

/** The description as an agent reads it, at each level of detail. */
function Levels({ id }: { readonly id: string }) {
  const [level, setLevel] = useState<string>('schema')
  const { data, error } = useQuery({
    queryKey: ['levels', id],
    queryFn: () => Promise.all(levels.map((each) => api.tools.doc({ idOrName: id, level: each, countTokens: true }))),
  })
  if (error !== null) return <ErrorNotice error={error} />
  return (
    <Card title="What an agent reads">
      {data === undefined ? (
        <SkeletonRows rows={3} />
      ) : (
        <Tabs
          label="Levels of detail"
          value={level}
          onChange={setLevel}
          tabs={levels.map((each, index) => {
            const { tokens, positional: _, ...shown } = data[index] as Doc
            return {
              id: each,
              label: `${each} · ${tokens ?? 0}`,
              content: <CodeBlock label={`${each}, ${tokens ?? 0} tokens`}>{JSON.stringify(shown, null, 2)}</CodeBlock>,
            }
          })}
        />
      )}
    </Card>
  )
}

function Requests({ doc }: { readonly doc: Doc }) {
  const { exampleRequests = [], examples = [] } = doc
  if (exampleRequests.length === 0 && examples.length === 0) return null
  return (
    <Card title="Examples">
      <ul className="flex flex-col gap-2 text-sm">
        {exampleRequests.map((request) => (
          <li key={request} className="break-words">
            “<SafeText max={300}>{request}</SafeText>”
          </li>
        ))}
        {examples.map(({ title, description, args }) => (
          <li key={`${title} ${description} ${JSON.stringify(args)}`} className="min-w-0">
            <p className="font-medium break-words">
              <SafeText max={300}>{title ?? description}</SafeText>
            </p>
            {args !== undefined && <JsonTree value={args} />}
          </li>
        ))}
      </ul>
    </Card>
  )
}

const readings: Readonly<Record<string, readonly [yes: string, no: string]>> = {
  readOnlyHint: ['only reads', 'changes things'],
  destructiveHint: ['may destroy data', 'destroys nothing'],
  idempotentHint: ['safe to repeat', 'repeating has effects'],
  openWorldHint: ['reaches outside', 'stays inside'],
}

function Annotations({ annotations = {} }: { readonly annotations: Doc['annotations'] }) {
  const known = Object.entries(annotations).filter(([name, value]) => name in readings && typeof value === 'boolean')
  if (known.length === 0) return null
  return (
    <Card title="Declared behavior">
      <div className="flex flex-wrap gap-1.5">
        {known.map(([name, value]) => (
          <Badge key={name} tone={name === 'destructiveHint' && value === true ? 'bad' : 'neutral'}>
            {readings[name]?.[value === true ? 0 : 1]}
          </Badge>
        ))}
      </div>
    </Card>
  )
}
