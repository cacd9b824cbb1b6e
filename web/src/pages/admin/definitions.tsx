import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toast.tsx'

/** Named definitions of one kind: policies, toolsets or limits. */
export interface DefinitionKind<Item> {
  readonly kind: string
  readonly title: string
  readonly empty: string
  readonly afterRemoval: string
  readonly columns: readonly Column<Item>[]
  /** The definition without its name, as it is edited. */
  readonly bodyOf: (item: Item) => object
  readonly example: { readonly name: string; readonly body: object }
  readonly list: () => Promise<{ readonly items: readonly Item[] }>
  readonly put: (name: string, body: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly remove: (name: string) => Promise<unknown>
  /** What a definition would do, shown in the editor. */
  readonly preview?: (name: string, body: Readonly<Record<string, unknown>>) => ReactNode
}

interface Draft {
  readonly name: string
  readonly text: string
  readonly isNew: boolean
}

const toText = (value: object) => JSON.stringify(value, null, 2)

/** The list of definitions of one kind, with an editor. */
export function Definitions<Item extends { readonly name: string }>({ of }: { readonly of: DefinitionKind<Item> }) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState<Draft>()
  const { data, error, isPending, refetch } = useQuery({ queryKey: [of.kind, 'list'], queryFn: of.list })
  const create = () => setDraft({ name: '', text: toText(of.example.body), isNew: true })
  const remove = async (name: string) => {
    await of.remove(name)
    showToast(`Deleted the ${of.kind} ${name}.`)
    await queries.invalidateQueries({ queryKey: [of.kind] })
  }
  return (
    <Card
      title={of.title}
      isFlush
      actions={
        <Button size="sm" tone="primary" icon={<Plus className="size-3.5" aria-hidden />} onClick={create}>
          Create a {of.kind}
        </Button>
      }
    >
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows rows={3} />}
      {data?.items.length === 0 && <EmptyState title={`No ${of.title.toLowerCase()} yet.`}>{of.empty}</EmptyState>}
      {data !== undefined && data.items.length > 0 && (
        <Table
          caption={of.title}
          rows={data.items}
          keyOf={({ name }) => name}
          columns={[
            { title: 'Name', className: 'font-medium', cell: ({ name }) => <SafeText max={100}>{name}</SafeText> },
            ...of.columns,
            {
              title: 'Action',
              align: 'right',
              cell: (item) => (
                <div className="flex justify-end gap-2">
                  <Button
                    size="sm"
                    onClick={() => setDraft({ name: item.name, text: toText(of.bodyOf(item)), isNew: false })}
                  >
                    Edit
                  </Button>
                  <ConfirmButton
                    label="Delete"
                    title={
                      <>
                        Delete the {of.kind} <SafeText max={100}>{item.name}</SafeText>?
                      </>
                    }
                    onConfirm={() => remove(item.name)}
                  >
                    {of.afterRemoval}
                  </ConfirmButton>
                </div>
              ),
            },
          ]}
        />
      )}
      {draft !== undefined && <Editor of={of} start={draft} onClose={() => setDraft(undefined)} />}
    </Card>
  )
}

interface EditorProps<Item> {
  readonly of: DefinitionKind<Item>
  readonly start: Draft
  readonly onClose: () => void
}

function Editor<Item>({ of, start, onClose }: EditorProps<Item>) {
  const queries = useQueryClient()
  const [name, setName] = useState(start.name)
  const [text, setText] = useState(start.text)
  const { body, fault } = parseBody(text)
  const save = useMutation({
    mutationFn: () => of.put(name.trim(), body ?? {}),
    onSuccess: async () => {
      showToast(`Saved the ${of.kind} ${name.trim()}.`)
      await queries.invalidateQueries({ queryKey: [of.kind] })
      onClose()
    },
  })
  return (
    <Dialog
      title={start.isNew ? `Create a ${of.kind}` : `Edit the ${of.kind} ${start.name}`}
      description="It is in force as soon as it is saved."
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone="primary"
            disabled={body === undefined || name.trim() === ''}
            isBusy={save.isPending}
            onClick={() => save.mutate()}
          >
            Save
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 pb-2">
        {start.isNew && (
          <Field
            label="Name"
            required
            placeholder={of.example.name}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        )}
        <TextArea
          label="Definition (JSON)"
          rows={12}
          spellCheck={false}
          className="font-mono text-xs!"
          value={text}
          onChange={({ target }) => setText(target.value)}
          {...(fault === undefined ? {} : { error: fault })}
        />
        {save.error !== null && <ErrorNotice error={save.error} />}
        {body !== undefined && of.preview?.(start.isNew ? '' : start.name, body)}
      </div>
    </Dialog>
  )
}

interface Parsed {
  readonly body?: Readonly<Record<string, unknown>>
  readonly fault?: string
}

function parseBody(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { body: value as Parsed['body'] & {} }
    return { fault: 'must be a JSON object' }
  } catch (thrown) {
    return { fault: `not JSON: ${thrown instanceof Error ? thrown.message : ''}` }
  }
}
