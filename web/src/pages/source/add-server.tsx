import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Checkbox, Field, Select, TextArea } from '../../ui/field.tsx'
import { type ServerForm, toServer } from './parse-server.ts'

const emptyServer: ServerForm = {
  name: '',
  kind: 'command',
  command: '',
  args: '',
  env: '',
  url: '',
  headers: '',
  allowPrivate: false,
}

/** Adds an MCP server; its page then shows the exact command, which is approved there. */
export function AddServer() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button tone="primary" icon={<Plus className="size-4" aria-hidden />} onClick={() => setOpen(true)}>
        Add an MCP server
      </Button>
      {isOpen && <AddDialog onClose={() => setOpen(false)} />}
    </>
  )
}

function AddDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const save = async (form: ServerForm) => {
    const { name } = await api.sources.add(toServer(form))
    await queries.invalidateQueries({ queryKey: ['sources'] })
    onClose()
    void navigate({ to: '/sources/$name', params: { name } })
  }
  return <ServerDialog title="Add an MCP server" action="Add" start={emptyServer} onClose={onClose} onSave={save} />
}

interface ServerDialogProps {
  readonly title: ReactNode
  readonly action: string
  readonly start: ServerForm
  readonly onClose: () => void
  readonly onSave: (form: ServerForm) => Promise<void>
}

/** The fields of an MCP server; a stored one keeps its name. */
export function ServerDialog({ title, action, start, onClose, onSave }: ServerDialogProps) {
  const [form, setForm] = useState(start)
  const set = (change: Partial<ServerForm>) => setForm((before) => ({ ...before, ...change }))
  const save = useMutation({ mutationFn: async () => onSave(form) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Dialog
      title={title}
      description="Nothing is started yet: the exact command or URL is shown for approval first."
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form="add-server" isBusy={save.isPending}>
            {action}
          </Button>
        </>
      }
    >
      <form id="add-server" onSubmit={submit} className="flex flex-col gap-3 pb-2">
        <div className="grid gap-3 sm:grid-cols-2">
          <Field
            label="Name"
            required
            disabled={start.name !== ''}
            pattern="[A-Za-z][A-Za-z0-9_\-]*"
            placeholder="notes"
            hint="The namespace of its tools, such as notes in notes__search."
            value={form.name}
            onChange={({ target }) => set({ name: target.value })}
          />
          <Select
            label="Connection"
            value={form.kind}
            onChange={({ target }) => set({ kind: target.value === 'url' ? 'url' : 'command' })}
          >
            <option value="command">A program on the machine of this server</option>
            <option value="url">A URL</option>
          </Select>
        </div>
        {form.kind === 'command' ? <CommandFields form={form} set={set} /> : <UrlFields form={form} set={set} />}
        {save.error !== null && <ErrorNotice error={save.error} />}
      </form>
    </Dialog>
  )
}

interface FieldsProps {
  readonly form: ServerForm
  readonly set: (change: Partial<ServerForm>) => void
}

const mono = 'font-mono text-xs!'

function CommandFields({ form, set }: FieldsProps) {
  return (
    <>
      <Field
        label="Program"
        required
        className={mono}
        placeholder="npx"
        value={form.command}
        onChange={({ target }) => set({ command: target.value })}
      />
      <TextArea
        label="Arguments"
        hint="One per line; there is no shell, so nothing is split or expanded."
        rows={3}
        className={mono}
        placeholder={'-y\n@example/notes-server'}
        value={form.args}
        onChange={({ target }) => set({ args: target.value })}
      />
      <TextArea
        label="Variables"
        hint="NAME=value per line; secret:NAME refers to a stored secret. Values with the name of a secret are stored encrypted."
        rows={2}
        className={mono}
        value={form.env}
        onChange={({ target }) => set({ env: target.value })}
      />
    </>
  )
}

function UrlFields({ form, set }: FieldsProps) {
  return (
    <>
      <Field
        label="URL"
        type="url"
        required
        className={mono}
        placeholder="https://mcp.example.com/mcp"
        value={form.url}
        onChange={({ target }) => set({ url: target.value })}
      />
      <TextArea
        label="Headers"
        hint="Name: value per line, such as Authorization: Bearer secret:NOTES_TOKEN."
        rows={2}
        className={mono}
        value={form.headers}
        onChange={({ target }) => set({ headers: target.value })}
      />
      <Checkbox
        label="Allow a private address"
        hint="Only for a server in your own network."
        checked={form.allowPrivate}
        onChange={({ target }) => set({ allowPrivate: target.checked })}
      />
    </>
  )
}
