import { SafeText } from '../../ui/safe-text.tsx'
import { DecideButtons } from './decide-buttons.tsx'
import { WaitBadge } from './wait-badge.tsx'

interface Run {
  readonly id: string
  readonly toolName: string
  readonly callerId: string | null
  readonly status: string
  readonly reason: string | null
  readonly errorMessage: string | null
}

const maxReason = 140

/** The status of a run in a table; narrow screens, which have no column for reasons, get the decision here. */
export function RunStatus({ run }: { readonly run: Run }) {
  return (
    <div className="flex flex-col items-start gap-1.5">
      <WaitBadge execution={run} />
      {run.reason === 'approval' && (
        <div className="flex flex-wrap gap-1.5 sm:hidden">
          <DecideButtons execution={run} />
        </div>
      )}
    </div>
  )
}

/** The reason of a failure, or the decision on a call that waits. */
export function RunReason({ run }: { readonly run: Run }) {
  if (run.reason === 'approval')
    return (
      <div className="flex gap-1.5">
        <DecideButtons execution={run} />
      </div>
    )
  return (
    <span className="text-muted">
      <SafeText max={maxReason} isExcerpt>
        {run.errorMessage ?? ''}
      </SafeText>
    </span>
  )
}
