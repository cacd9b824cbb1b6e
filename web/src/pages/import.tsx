import { useState } from 'react'
import { useCaller } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { TextArea } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import { DropZone, type ReadFile } from './import/drop-zone.tsx'
import { ImportBundle } from './import/import-bundle.tsx'
import { ImportServers } from './import/import-servers.tsx'
import { readServers } from './import/read-servers.ts'

/** Imports tools from a file or a text, after a preview of all changes. */
export function ImportPage() {
  const { data: caller } = useCaller()
  const [file, setFile] = useState<ReadFile & { readonly id: number }>()
  const [text, setText] = useState('')
  const show = (read: ReadFile) => setFile({ ...read, id: Date.now() })
  const servers = file === undefined ? undefined : readServers(file)
  if (caller !== undefined && !caller.scopes.includes('admin'))
    return (
      <Page title="Import">
        <EmptyState title="Importing needs a key with the scope admin.">Sign in with such a key.</EmptyState>
      </Page>
    )
  return (
    <Page title="Import" description="Tools from files you have. Nothing changes before you have seen the preview.">
      <DropZone onFile={show} />
      <Card title="Or paste a text">
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            show({ name: 'pasted', text })
          }}
        >
          <TextArea
            label="Text"
            rows={6}
            spellCheck={false}
            className="font-mono text-xs!"
            placeholder={'name: git\ncommand: git\ntools: …'}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          <Button type="submit" className="self-start" disabled={text.trim() === ''}>
            Preview
          </Button>
        </form>
      </Card>
      {file !== undefined && servers !== undefined && <ImportServers key={file.id} servers={servers} />}
      {file !== undefined && servers === undefined && <ImportBundle key={file.id} file={file} />}
    </Page>
  )
}
