import { useId, useRef } from 'react'
import type { Problem } from 'tooldex/client'
import { cx } from '../../ui/cx.ts'
import { ProblemList } from './problem-list.tsx'

interface CodeAreaProps {
  readonly label: string
  readonly value: string
  readonly rows: number
  readonly problems: readonly Problem[]
  readonly onChange: (text: string) => void
}

/** The pixels of one line, and of the padding above the first. */
const lineHeight = 20
const padding = 8

/** A text of code with line numbers; the lines of problems are marked, and the problems are listed below. */
export function CodeArea({ label, value, rows, problems, onChange }: CodeAreaProps) {
  const id = useId()
  const text = useRef<HTMLTextAreaElement>(null)
  const behind = useRef<HTMLDivElement>(null)
  const count = value.split('\n').length
  const marked = markedLines(problems, count)
  const scroll = () => behind.current?.scrollTo({ top: text.current?.scrollTop ?? 0 })
  const select = ({ line = 1, column }: Problem) => {
    const area = text.current
    if (area === null) return
    const lines = value.split('\n')
    const before = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0)
    const at = before + Math.max((column ?? 1) - 1, 0)
    area.focus()
    area.setSelectionRange(column === undefined ? before : at, before + (lines[line - 1] ?? '').length)
    area.scrollTo({ top: Math.max((line - 3) * lineHeight, 0) })
  }
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <div className="relative overflow-hidden rounded-md border border-line-strong/60 bg-sunken font-mono text-xs leading-5 focus-within:border-accent focus-within:outline-1 focus-within:outline-accent">
        <div ref={behind} aria-hidden className="absolute inset-0 overflow-hidden py-2">
          <div className="relative">
            {marked.map(({ line, isError }) => (
              <div
                key={line}
                data-marked-line={line}
                style={{ top: (line - 1) * lineHeight, height: lineHeight }}
                className={cx(
                  'absolute inset-x-0 border-l-4',
                  isError ? 'border-bad bg-bad-soft' : 'border-warn bg-warn-soft',
                )}
              />
            ))}
            <pre className="relative w-10 text-right leading-5 text-muted select-none">{numbers(count)}</pre>
          </div>
        </div>
        <textarea
          ref={text}
          id={id}
          value={value}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          aria-invalid={problems.some(({ severity }) => severity === 'error') || undefined}
          aria-describedby={problems.length === 0 ? undefined : `${id}-problems`}
          onScroll={scroll}
          onChange={({ target }) => onChange(target.value)}
          style={{ height: rows * lineHeight + 2 * padding }}
          className="relative ml-12 block w-[calc(100%-3rem)] resize-y bg-transparent py-2 pr-2 leading-5 whitespace-pre text-text outline-none"
        />
      </div>
      <div id={`${id}-problems`}>
        <ProblemList problems={problems} onSelect={select} />
      </div>
    </div>
  )
}

// A space at the end keeps the last number visible above a scroll bar.
const numbers = (count: number): string => Array.from({ length: count }, (_, index) => index + 1).join('\n')

interface MarkedLine {
  readonly line: number
  readonly isError: boolean
}

/** Each line with a problem once; an error outweighs a warning. */
function markedLines(problems: readonly Problem[], count: number): readonly MarkedLine[] {
  const lines = new Map<number, boolean>()
  for (const { line, severity } of problems)
    if (line !== undefined && line <= count) lines.set(line, lines.get(line) === true || severity === 'error')
  return [...lines].map(([line, isError]) => ({ line, isError }))
}
