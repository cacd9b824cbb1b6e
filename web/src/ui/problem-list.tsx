import { CircleAlert, TriangleAlert } from 'lucide-react'
import type { Problem } from 'tooldex/client'
import { SafeText } from './safe-text.tsx'

interface ProblemListProps {
  readonly problems: readonly Problem[]
  /** Moves to the line of a problem. */
  readonly onSelect?: ((problem: Problem) => void) | undefined
}

const maxShown = 20

/** Problems with their line, pointer and hint. */
export function ProblemList({ problems, onSelect }: ProblemListProps) {
  if (problems.length === 0) return null
  return (
    <ul className="flex flex-col gap-1.5 py-1 text-xs break-words">
      {problems.slice(0, maxShown).map((problem) => (
        <li key={`${problem.pointer} ${problem.line} ${problem.message}`} className="flex gap-2">
          {problem.severity === 'error' ? (
            <CircleAlert className="mt-0.5 size-3.5 shrink-0 text-bad" aria-label="Error" />
          ) : (
            <TriangleAlert className="mt-0.5 size-3.5 shrink-0 text-warn" aria-label="Warning" />
          )}
          <span className="min-w-0">
            {problem.line !== undefined && <Place problem={problem} onSelect={onSelect} />}
            {problem.pointer !== undefined && (
              <code className="mr-1.5 font-mono text-muted">
                <SafeText max={200}>{problem.pointer}</SafeText>
              </code>
            )}
            <SafeText max={500}>{problem.message}</SafeText>
            {problem.hint !== undefined && (
              <span className="block text-muted">
                <SafeText max={300}>{problem.hint}</SafeText>
              </span>
            )}
          </span>
        </li>
      ))}
      {problems.length > maxShown && <li>{problems.length - maxShown} more</li>}
    </ul>
  )
}

function Place({ problem, onSelect }: { readonly problem: Problem } & Pick<ProblemListProps, 'onSelect'>) {
  const text = `line ${problem.line}${problem.column === undefined ? '' : `, column ${problem.column}`}`
  if (onSelect === undefined) return <span className="mr-1.5 font-medium">{text}</span>
  return (
    <button type="button" className="mr-1.5 font-medium text-accent underline" onClick={() => onSelect(problem)}>
      {text}
    </button>
  )
}
