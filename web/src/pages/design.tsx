import { useState } from 'react'
import { TooldexError } from 'tooldex/client'
import { Badge, StatusBadge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Checkbox, Field, Select, TextArea } from '../ui/field.tsx'
import { JsonTree } from '../ui/json-tree.tsx'
import { Page } from '../ui/page.tsx'
import { SafeText } from '../ui/safe-text.tsx'
import { SkeletonRows } from '../ui/skeleton.tsx'
import { Table } from '../ui/table.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { showToast } from '../ui/toast.tsx'

const colors = [
  ['page', 'bg-page'],
  ['surface', 'bg-surface'],
  ['sunken', 'bg-sunken'],
  ['hover', 'bg-hover'],
  ['accent', 'bg-accent'],
  ['accent-soft', 'bg-accent-soft'],
  ['ok-soft', 'bg-ok-soft'],
  ['warn-soft', 'bg-warn-soft'],
  ['bad-soft', 'bg-bad-soft'],
  ['info-soft', 'bg-info-soft'],
] as const
const problem = { severity: 'error', pointer: '/limit', message: 'must be at most 100' } as const
const error = new TooldexError('INPUT_INVALID', 'The input was refused: limit must be at most 100.', {
  problems: [problem],
  hint: 'Compare the arguments with the input schema.',
})
const statuses = ['ACTIVE', 'DRAFT', 'DEPRECATED', 'DISABLED', 'RUNNING', 'FAILED'] as const
const sample = { name: 'git_log', tags: ['git', 'history'], input: { max_count: 10, all: false, author: null } }

/** Colors, type and all components; the tests look at them in both themes. */
export function DesignPage() {
  const [tab, setTab] = useState('first')
  const [isOpen, setOpen] = useState(false)
  return (
    <Page title="Design system" description="Colors, type, spacing and components of the console.">
      <Card title="Colors">
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(7rem,1fr))] gap-3">
          {colors.map(([name, color]) => (
            <li key={name} className="text-xs">
              <div className={`mb-1 h-10 rounded-md border border-line ${color}`} />
              {name}
            </li>
          ))}
        </ul>
      </Card>
      <Card title="Type">
        <div className="flex flex-col gap-1">
          <p className="text-xl font-semibold">Page heading, 20 px</p>
          <p className="text-lg font-semibold">Dialog heading, 16 px</p>
          <p>Text, 14 px</p>
          <p className="text-sm">Dense text of tables and controls, 13 px</p>
          <p className="text-xs text-muted">Notes, 12 px</p>
          <p className="font-mono text-xs">Code, 12 px</p>
          <p className="text-sm">
            Invisible characters: <SafeText>{'pay\u202e100\u202c now\u001b[2K'}</SafeText>
          </p>
        </div>
      </Card>
      <Card title="Buttons and badges">
        <div className="flex flex-wrap items-center gap-2">
          <Button tone="primary">Primary</Button>
          <Button>Plain</Button>
          <Button tone="quiet">Quiet</Button>
          <Button tone="danger">Danger</Button>
          <Button isBusy>Working</Button>
          <Button disabled>Disabled</Button>
          {statuses.map((status) => (
            <StatusBadge key={status} status={status} />
          ))}
          <Badge tone="accent">accent</Badge>
        </div>
        <div className="mt-3 flex flex-wrap gap-2">
          <Button onClick={() => showToast('Saved version 4.')}>Show a toast</Button>
          <Button onClick={() => setOpen(true)}>Open a dialog</Button>
        </div>
      </Card>
      <Card title="Fields">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Name" placeholder="git_log" hint="Lower case, digits and underscores." />
          <Field label="Limit" defaultValue="1000" error="must be at most 100" />
          <Select label="Status">
            <option>Active</option>
            <option>Draft</option>
          </Select>
          <TextArea label="Description" rows={2} />
          <Checkbox label="Dry run" hint="Shows what would run." />
        </div>
      </Card>
      <Card title="Table" isFlush>
        <Table
          caption="Example rows"
          rows={statuses}
          keyOf={(status) => status}
          columns={[
            { title: 'Tool', cell: (status) => `tool_${status.toLowerCase()}` },
            { title: 'Status', cell: (status) => <StatusBadge status={status} /> },
            { title: 'Runs', cell: (status) => status.length * 13, align: 'right' },
          ]}
        />
      </Card>
      <Card title="Tabs, tree and code">
        <Tabs
          label="Examples"
          value={tab}
          onChange={setTab}
          tabs={[
            { id: 'first', label: 'Tree', content: <JsonTree value={sample} /> },
            {
              id: 'second',
              label: 'Code',
              content: <CodeBlock label="JSON">{JSON.stringify(sample, null, 2)}</CodeBlock>,
            },
          ]}
        />
      </Card>
      <div className="grid gap-5 md:grid-cols-2">
        <Card title="Loading" isFlush>
          <SkeletonRows rows={4} />
        </Card>
        <Card title="Empty" isFlush>
          <EmptyState title="No runs yet." actions={<Button tone="primary">Try a tool</Button>}>
            Runs of this tool are listed here.
          </EmptyState>
        </Card>
      </div>
      <ErrorNotice error={error} onRetry={() => {}} />
      <Dialog
        title="Roll back to version 2"
        description="A new version with the content of version 2 is created."
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        actions={
          <>
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button tone="primary" onClick={() => setOpen(false)}>
              Roll back
            </Button>
          </>
        }
      >
        Callers get the new version with their next call.
      </Dialog>
    </Page>
  )
}
