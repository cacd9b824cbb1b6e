import { CopyButton } from './copy-button.tsx'
import { SafeText } from './safe-text.tsx'

interface CodeBlockProps {
  readonly children: string
  readonly label: string
  readonly max?: number
}

/** A text of code or output with a button to copy it. */
export function CodeBlock({ children, label, max = 20_000 }: CodeBlockProps) {
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border border-line bg-sunken">
      <figcaption className="flex items-center justify-between border-b border-line py-0.5 pr-1 pl-3 text-xs text-muted">
        {label}
        <CopyButton text={children} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre className="max-h-96 overflow-auto p-3 font-mono text-xs leading-relaxed" tabIndex={0}>
        <SafeText max={max}>{children}</SafeText>
      </pre>
    </figure>
  )
}
