import { lazy, Suspense, useId, useRef } from 'react'
import type { Problem } from 'tooldex/client'
import type { CodeLanguage, EditorHandle } from './code-editor.tsx'
import { ProblemList } from './problem-list.tsx'

const CodeEditor = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }))

interface CodeAreaProps {
  readonly label: string
  readonly language: CodeLanguage
  readonly value: string
  /** The number of lines that are visible without scrolling. */
  readonly rows: number
  readonly problems?: readonly Problem[]
  readonly placeholder?: string
  readonly hideLabel?: boolean
  readonly onChange: (text: string) => void
}

const lineHeight = 20
const padding = 10
const noProblems: readonly Problem[] = []

/** A text of code; problems are marked at their lines and listed below. */
export function CodeArea({ label, language, value, rows, problems = noProblems, ...rest }: CodeAreaProps) {
  const id = useId()
  const handle = useRef<EditorHandle>(null)
  const height = rows * lineHeight + padding
  const area = { label, value, onChange: rest.onChange, ...(problems.length === 0 ? {} : { describedBy: id }) }
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {rest.hideLabel !== true && <span className="text-sm font-medium">{label}</span>}
      <Suspense fallback={<PlainArea {...area} height={height} />}>
        <CodeEditor
          {...area}
          language={language}
          height={height}
          problems={problems}
          placeholder={rest.placeholder ?? ''}
          handle={handle}
        />
      </Suspense>
      <div id={id}>
        <ProblemList problems={problems} onSelect={(problem) => handle.current?.select(problem)} />
      </div>
    </div>
  )
}

interface PlainAreaProps {
  readonly label: string
  readonly value: string
  readonly height: number
  readonly onChange: (text: string) => void
}

/** What is there until the editor has been loaded: it shows the text, and no key is lost. */
function PlainArea({ label, value, height, onChange }: PlainAreaProps) {
  return (
    <textarea
      aria-label={label}
      aria-busy
      value={value}
      spellCheck={false}
      onChange={({ target }) => onChange(target.value)}
      style={{ height }}
      className="rounded-md border border-line-strong/60 bg-sunken px-12 py-1 font-mono text-xs leading-5 whitespace-pre"
    />
  )
}
