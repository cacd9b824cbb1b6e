import { useEffect, useState } from 'react'
import type { OperationOutput } from 'tooldex/client'
import { CodeBlock } from '../../ui/code-block.tsx'
import { JsonTree } from '../../ui/json-tree.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { Table } from '../../ui/table.tsx'
import { type Tab, Tabs } from '../../ui/tabs.tsx'
import { columnsOf, imagesOf, type ResultImage, rowsOf, type TableRow } from './result-shapes.ts'
import { StoredOutput } from './stored-output.tsx'

type Execution = OperationOutput<'executions.get'>

const maxRows = 200
const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''))

/** The output of an execution: images, table, tree and text, as far as they fit. */
export function ResultView({ execution }: { readonly execution: Execution }) {
  const { outputData, result, logs } = execution
  const [chosen, choose] = useState('')
  const rows = rowsOf(outputData)
  const images = imagesOf(outputData)
  const isTree = typeof outputData === 'object' && outputData !== null
  const tabs: Tab[] = [
    ...(images.length > 0 ? [{ id: 'image', label: 'Image', content: <Images images={images} /> }] : []),
    ...(rows === undefined ? [] : [{ id: 'table', label: 'Table', content: <Rows rows={rows} /> }]),
    ...(isTree ? [{ id: 'tree', label: 'Tree', content: <JsonTree value={outputData} /> }] : []),
    { id: 'text', label: 'Text', content: <CodeBlock label="Output">{asText(outputData)}</CodeBlock> },
    ...(result === null ? [] : [{ id: 'whole', label: 'Whole output', content: <StoredOutput result={result} /> }]),
    ...(logs.stderr === ''
      ? []
      : [{ id: 'stderr', label: 'Standard error', content: <CodeBlock label="stderr">{logs.stderr}</CodeBlock> }]),
  ]
  const value = tabs.some(({ id }) => id === chosen) ? chosen : (tabs[0]?.id ?? 'text')
  return <Tabs label="Result" tabs={tabs} value={value} onChange={choose} />
}

interface NumberedRow {
  readonly key: string
  readonly row: TableRow
}

function Rows({ rows }: { readonly rows: readonly TableRow[] }) {
  const numbered: readonly NumberedRow[] = rows.slice(0, maxRows).map((row, index) => ({ key: String(index), row }))
  return (
    <>
      <Table
        caption="Rows of the result"
        rows={numbered}
        keyOf={({ key }) => key}
        columns={columnsOf(rows).map((name) => ({
          title: name,
          cell: ({ row }: NumberedRow) => (
            <SafeText max={200}>{row[name] === undefined ? '' : asText(row[name])}</SafeText>
          ),
        }))}
      />
      {rows.length > maxRows && (
        <p className="px-4 py-2 text-xs text-muted">{rows.length - maxRows} more rows are in the tree.</p>
      )}
    </>
  )
}

function Images({ images }: { readonly images: readonly ResultImage[] }) {
  return (
    <div className="flex flex-col gap-3">
      {images.map((image) => (
        <BlobImage key={image.data.slice(0, 64) + image.data.length} image={image} />
      ))}
    </div>
  )
}

/** The policy of the page allows no data URLs, so the bytes become a blob. */
function BlobImage({ image }: { readonly image: ResultImage }) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const bytes = Uint8Array.from(atob(image.data), (char) => char.charCodeAt(0))
    const made = URL.createObjectURL(new Blob([bytes], { type: image.mimeType }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [image])
  return url === undefined ? null : (
    <img src={url} alt="Result of the tool" className="max-w-full rounded-md border border-line" />
  )
}
