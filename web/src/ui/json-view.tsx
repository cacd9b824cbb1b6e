import { CodeBlock } from './code-block.tsx'
import { CopyButton } from './copy-button.tsx'
import { JsonTree } from './json-tree.tsx'

interface JsonViewProps {
  readonly label: string
  readonly value: unknown
}

/** A value that can be copied: a text as lines, all else as a tree. */
export function JsonView({ label, value }: JsonViewProps) {
  if (typeof value === 'string') return <CodeBlock label={label}>{value}</CodeBlock>
  return (
    <figure className="min-w-0 rounded-md border border-line bg-sunken">
      <figcaption className="flex items-center justify-between border-b border-line py-0.5 pr-1 pl-3 text-xs text-muted">
        {label}
        <CopyButton text={JSON.stringify(value, null, 2) ?? ''} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className="max-h-112 overflow-auto p-3" tabIndex={0} aria-label={label}>
        <JsonTree value={value} />
      </section>
    </figure>
  )
}
