import { FileUp } from 'lucide-react'
import { type DragEvent, useId, useState } from 'react'
import { cx } from '../../ui/cx.ts'
import { showToast } from '../../ui/toast.tsx'

/** A text that was read from a file. */
export interface ReadFile {
  readonly name: string
  readonly text: string
}

const maxBytes = 30 * 1024 * 1024

/** Reads one file that is dropped or chosen; nothing is sent. */
export function DropZone({ onFile }: { readonly onFile: (file: ReadFile) => void }) {
  const id = useId()
  const [isOver, setOver] = useState(false)
  const read = async (file: File | undefined) => {
    if (file === undefined) return
    if (file.size > maxBytes) return showToast(`${file.name} is larger than 30 MiB.`, { isError: true })
    onFile({ name: file.name, text: await file.text() })
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void read(event.dataTransfer.files[0])
  }
  return (
    <label
      htmlFor={id}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={cx(
        'flex cursor-pointer flex-col items-center gap-2 rounded-lg border-2 border-dashed px-6 py-8 text-center text-sm transition-colors focus-within:border-accent hover:bg-hover',
        isOver ? 'border-accent bg-accent-soft' : 'border-line-strong/60',
      )}
    >
      <FileUp className="size-6 text-faint" aria-hidden />
      <span className="font-medium">Drop a file here, or choose one</span>
      <span className="text-muted">
        A CLI config or bundle in YAML or JSON, an OpenAPI document, OpenAI or MCP tools, or a client configuration with
        mcpServers.
      </span>
      <input
        id={id}
        type="file"
        accept=".yaml,.yml,.json"
        className="sr-only"
        onChange={({ target }) => {
          void read(target.files?.[0])
          target.value = ''
        }}
      />
    </label>
  )
}
