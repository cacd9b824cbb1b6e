import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import type { Problem } from 'tooldex/client'
import { Button } from '../../ui/button.tsx'
import { CodeArea } from '../../ui/code-area.tsx'
import { Checkbox, Field, Select } from '../../ui/field.tsx'
import { ProblemList } from '../../ui/problem-list.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { newRow, rowsOfSchema, type SchemaRow, withRows } from './schema-rows.ts'
import { readObject, toText } from './tool-form.ts'

interface SchemaEditorProps {
  readonly text: string
  readonly problems: readonly Problem[]
  readonly onChange: (text: string) => void
}

/** The input schema as fields and as JSON; both edit the same text. */
export function SchemaEditor({ text, problems, onChange }: SchemaEditorProps) {
  const [view, setView] = useState('fields')
  return (
    <Tabs
      label="Views of the input schema"
      value={view}
      onChange={setView}
      tabs={[
        {
          id: 'fields',
          label: 'Fields',
          content: (
            <div className="flex flex-col gap-3">
              <SchemaFieldList text={text} onChange={onChange} />
              <ProblemList problems={problems} />
            </div>
          ),
        },
        {
          id: 'json',
          label: 'JSON',
          content: (
            <CodeArea
              label="Input schema (JSON)"
              language="json"
              rows={16}
              value={text}
              problems={problems}
              onChange={onChange}
            />
          ),
        },
      ]}
    />
  )
}

function SchemaFieldList({ text, onChange }: Pick<SchemaEditorProps, 'text' | 'onChange'>) {
  const read = readObject(text)
  const schema = 'value' in read ? read.value : undefined
  const rows = schema === undefined ? undefined : rowsOfSchema(schema)
  if (schema === undefined || rows === undefined)
    return (
      <p className="text-sm text-muted">
        This schema cannot be shown as fields. Open the JSON view to edit its properties.
      </p>
    )
  const write = (next: readonly SchemaRow[]) => onChange(toText(withRows(schema, next)))
  return (
    <>
      {rows.length === 0 && <p className="text-sm text-muted">The tool takes no arguments.</p>}
      {rows.map((row, index) => (
        <RowFields
          // biome-ignore lint/suspicious/noArrayIndexKey: its name is edited, so the position identifies a row
          key={`${rows.length} ${index + 1}`}
          row={row}
          isTaken={(name) => rows.some((other) => other !== row && other.name === name)}
          onChange={(next) => write(rows.with(index, next))}
          onRemove={() => write(rows.toSpliced(index, 1))}
        />
      ))}
      <div>
        <Button
          size="sm"
          icon={<Plus className="size-3.5" aria-hidden />}
          onClick={() => write([...rows, newRow(rows)])}
        >
          Add an argument
        </Button>
      </div>
    </>
  )
}

const types = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'null'] as const

interface RowFieldsProps {
  readonly row: SchemaRow
  readonly isTaken: (name: string) => boolean
  readonly onChange: (row: SchemaRow) => void
  readonly onRemove: () => void
}

function RowFields({ row, isTaken, onChange, onRemove }: RowFieldsProps) {
  const [rejected, setRejected] = useState<string>()
  const { name, property, isRequired } = row
  const rename = (next: string) => {
    const isFree = next !== '' && !isTaken(next)
    setRejected(isFree ? undefined : next)
    if (isFree) onChange({ ...row, name: next })
  }
  const set = (key: string, value: string) => {
    const { [key]: _, ...rest } = property
    onChange({ ...row, property: value === '' ? rest : { ...rest, [key]: value } })
  }
  const type = types.find((each) => each === property.type) ?? ''
  return (
    <fieldset className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-2 border-b border-line pb-3 sm:grid-cols-[minmax(0,2fr)_7rem_minmax(0,3fr)_auto_auto]">
      <legend className="sr-only">Argument {name}</legend>
      <Field
        label="Name of the argument"
        hideLabel
        className="font-mono text-xs!"
        value={rejected ?? name}
        onChange={({ target }) => rename(target.value)}
        {...(rejected === undefined
          ? {}
          : { error: rejected === '' ? 'A name is required.' : 'Another argument has this name.' })}
      />
      <Select label="Type" hideLabel value={type} onChange={({ target }) => set('type', target.value)}>
        {type === '' && <option value="">see JSON</option>}
        {types.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </Select>
      <Field
        label="Description of the argument"
        hideLabel
        placeholder="Description"
        value={typeof property.description === 'string' ? property.description : ''}
        onChange={({ target }) => set('description', target.value)}
      />
      <div className="flex h-8 items-center gap-2 max-sm:justify-end sm:contents">
        <div className="flex h-8 items-center">
          <Checkbox
            label="Required"
            checked={isRequired}
            onChange={({ target }) => onChange({ ...row, isRequired: target.checked })}
          />
        </div>
        <Button
          tone="quiet"
          aria-label={`Remove the argument ${name.slice(0, 100)}`}
          icon={<X className="size-4" aria-hidden />}
          onClick={onRemove}
        />
      </div>
    </fieldset>
  )
}
