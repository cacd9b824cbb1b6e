import { CircleAlert } from 'lucide-react'
import { type Problem, TooldexError } from 'tooldex/client'
import { browserHint } from '../api/browser-hint.ts'
import { Button } from './button.tsx'
import { SafeText } from './safe-text.tsx'

const maxProblems = 20

const placeOf = ({ line, column }: Problem): string =>
  line === undefined ? '' : `line ${line}${column === undefined ? '' : `, column ${column}`}`

interface ErrorNoticeProps {
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
}

/** An error with its hint and all of its problems. */
export function ErrorNotice({ error, onRetry }: ErrorNoticeProps) {
  const known = error instanceof TooldexError ? error : undefined
  const message = error instanceof Error ? error.message : String(error)
  const problems = known?.problems ?? []
  const hint = known && browserHint(known)
  return (
    <div role="alert" className="flex gap-3 rounded-lg border border-bad/40 bg-bad-soft p-3 text-sm">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words text-bad">
          <SafeText max={1000}>{message}</SafeText>
        </p>
        {problems.length > 0 && (
          <ul className="mt-1 list-disc pl-4 break-words">
            {problems.slice(0, maxProblems).map((problem) => (
              <li key={`${placeOf(problem)} ${problem.pointer} ${problem.message}`}>
                {problem.line !== undefined && <span className="mr-1 text-muted">{placeOf(problem)}:</span>}
                {problem.pointer !== undefined && <code className="mr-1 font-mono text-xs">{problem.pointer}</code>}
                <SafeText max={300}>{problem.message}</SafeText>
              </li>
            ))}
            {problems.length > maxProblems && <li>{problems.length - maxProblems} more</li>}
          </ul>
        )}
        {hint !== undefined && (
          <p className="mt-1 break-words">
            <SafeText max={500}>{hint}</SafeText>
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <Button size="sm" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}
