import { useState } from 'react'
import type { Problem } from 'tooldex/client'
import { useCaller } from '../api/session.ts'
import { Card } from '../ui/card.tsx'
import { CodeArea } from '../ui/code-area.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Page } from '../ui/page.tsx'
import { useSettled } from '../ui/use-settled.ts'
import { DropZone, type ReadFile } from './import/drop-zone.tsx'
import { ImportBundle } from './import/import-bundle.tsx'
import { ImportServers } from './import/import-servers.tsx'
import { readServers } from './import/read-servers.ts'

// Larger files are imported as they are; editing them here would be slow.
const maxEdited = 200_000
const none: readonly Problem[] = []
const pasted = { name: 'pasted text', text: '', edits: 0 }

/** Imports tools from a file or a text, after a preview of all changes. */
export function ImportPage() {
  const { data: caller } = useCaller()
  const [file, setFile] = useState(pasted)
  const [problems, setProblems] = useState(none)
  const show = (next: ReadFile) => {
    setFile(({ edits }) => ({ ...next, edits: edits + 1 }))
    setProblems(none)
  }
  const settled = useSettled(file)
  const isEmpty = settled.text.trim() === ''
  const servers = isEmpty ? undefined : readServers(settled)
  if (caller !== undefined && !caller.scopes.includes('admin'))
    return (
      <Page title="Import">
        <EmptyState title="Importing needs a key with the scope admin.">Sign in with such a key.</EmptyState>
      </Page>
    )
  return (
    <Page title="Import" description="Tools from files you have. Nothing changes before you have seen the preview.">
      <DropZone onFile={show} />
      {file.text.length <= maxEdited && (
        <Card title={file.name === pasted.name ? 'Or paste a text' : 'Text'}>
          <CodeArea
            label="Text of the import"
            hideLabel
            language={/^\s*[{[]/.test(file.text) ? 'json' : 'yaml'}
            rows={file.text === '' ? 6 : 14}
            placeholder={'name: git\ncommand: git\ntools: …'}
            value={file.text}
            problems={problems}
            onChange={(text) => setFile(({ name, edits }) => ({ name, text, edits: edits + 1 }))}
          />
        </Card>
      )}
      {servers !== undefined && <ImportServers key={settled.edits} servers={servers} />}
      {!isEmpty && servers === undefined && (
        <ImportBundle key={settled.edits} file={settled} onProblems={setProblems} />
      )}
    </Page>
  )
}
