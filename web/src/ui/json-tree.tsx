import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { cx } from './cx.ts'
import { SafeText } from './safe-text.tsx'

interface JsonTreeProps {
  readonly value: unknown
  readonly name?: string
  readonly depth?: number
}

const pageSize = 100
const openDepth = 2

/** A JSON value as a tree; branches and long lists open on demand. */
export function JsonTree({ value, name, depth = 0 }: JsonTreeProps) {
  if (typeof value !== 'object' || value === null)
    return (
      <div className="py-px pl-5 font-mono text-xs leading-relaxed break-words">
        <Name name={name} />
        <Scalar value={value} />
      </div>
    )
  return <Branch value={value} depth={depth} {...(name === undefined ? {} : { name })} />
}

function Branch({ value, name, depth }: { readonly value: object; readonly name?: string; readonly depth: number }) {
  const [isOpen, setOpen] = useState(depth < openDepth)
  const [shown, setShown] = useState(pageSize)
  const entries = Object.entries(value)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return (
    <div className="font-mono text-xs leading-relaxed">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex items-center rounded-sm py-px text-left hover:bg-hover"
      >
        <ChevronRight
          className={cx('mr-1 size-4 text-faint transition-transform', isOpen && 'rotate-90')}
          aria-hidden
        />
        <Name name={name} />
        <span className="text-muted">{isOpen ? open : `${open} ${entries.length} ${close}`}</span>
      </button>
      {isOpen && (
        <div className="ml-2 border-l border-line pl-2">
          {entries.slice(0, shown).map(([key, child]) => (
            <JsonTree key={key} name={key} value={child} depth={depth + 1} />
          ))}
          {entries.length > shown && (
            <button type="button" className="pl-5 text-accent underline" onClick={() => setShown(shown + pageSize)}>
              {entries.length - shown} more
            </button>
          )}
        </div>
      )}
      {isOpen && <span className="pl-5 text-muted">{close}</span>}
    </div>
  )
}

function Name({ name }: { readonly name: string | undefined }) {
  if (name === undefined) return null
  return (
    <span className="mr-1 text-info">
      <SafeText max={200}>{name}</SafeText>:
    </span>
  )
}

function Scalar({ value }: { readonly value: unknown }) {
  if (typeof value === 'string')
    return (
      <span className="whitespace-pre-wrap text-ok">
        "<SafeText max={1000}>{value}</SafeText>"
      </span>
    )
  return <span className="text-warn">{String(value)}</span>
}
