import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import type { Source } from './approval.tsx'
import { Suspicious } from './changes.tsx'

const kinds = ['tools', 'prompts', 'resources', 'templates'] as const
type Item = Source['items'][(typeof kinds)[number]][number]

const titleOf = (kind: string) => kind.charAt(0).toUpperCase() + kind.slice(1)

/** What a server offers, as it was accepted. */
export function Items({ source: { items, readAt } }: { readonly source: Source }) {
  const [kind, setKind] = useState<string>('tools')
  if (readAt === null) return null
  return (
    <Card>
      <Tabs
        label="Items"
        value={kind}
        onChange={setKind}
        tabs={kinds.map((each) => ({
          id: each,
          label: `${titleOf(each)} ${items[each].length}`,
          content: <ItemTable kind={each} items={items[each]} />,
        }))}
      />
    </Card>
  )
}

function ItemTable({ kind, items }: { readonly kind: string; readonly items: readonly Item[] }) {
  if (items.length === 0) return <EmptyState title={`This server offers no ${kind}.`} />
  return (
    <Table
      caption={titleOf(kind)}
      rows={items}
      keyOf={({ name }) => name}
      columns={[
        {
          title: 'Name',
          cell: ({ name, tool }) =>
            tool === undefined ? (
              <SafeText max={200}>{name}</SafeText>
            ) : (
              <Link to="/tools/$id" params={{ id: tool }} className="font-medium text-accent hover:underline">
                <SafeText max={200}>{name}</SafeText>
              </Link>
            ),
        },
        {
          title: 'Description',
          cell: ({ description = '', suspicious }) => (
            <>
              <SafeText max={300}>{description}</SafeText>
              {suspicious !== undefined && <Suspicious signs={suspicious} />}
            </>
          ),
        },
      ]}
    />
  )
}
