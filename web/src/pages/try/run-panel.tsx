import type { OperationOutput } from 'tooldex/client'
import { StatusBadge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { JsonTree } from '../../ui/json-tree.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ResultView } from './result-view.tsx'
import type { RunState } from './use-run.ts'

type Execution = OperationOutput<'executions.get'>

/** What a run does now, and its result. */
export function RunPanel({ state }: { readonly state: RunState }) {
  const { phase, execution, plan, output, error } = state
  return (
    <Card title="Result" actions={execution !== undefined && <StatusBadge status={execution.status} />}>
      <div className="flex flex-col gap-3" aria-live="polite" aria-busy={phase === 'starting' || phase === 'running'}>
        {phase === 'idle' && (
          <EmptyState title="Nothing has run yet.">
            A dry run shows what would run; a run calls the tool as an agent would.
          </EmptyState>
        )}
        {phase === 'starting' && <Skeleton className="h-16 w-full" />}
        {error !== undefined && <ErrorNotice error={error} />}
        {plan !== undefined && <Plan plan={plan} />}
        {execution !== undefined && <Facts execution={execution} />}
        {execution?.reason === 'approval' && execution.status === 'PENDING' && (
          <p className="rounded-md bg-warn-soft p-3 text-sm text-warn">
            This call waits for approval. It runs as soon as someone with the scope write approves it.
          </p>
        )}
        {phase === 'running' && output.length > 0 && (
          <CodeBlock label="Output so far">{output.map(({ text }) => text).join('')}</CodeBlock>
        )}
        {phase === 'ended' && execution !== undefined && <Ended execution={execution} />}
      </div>
    </Card>
  )
}

function Facts({ execution }: { readonly execution: Execution }) {
  const { id, version, durationMs, isolation, worker, attempt } = execution
  const facts = [
    ['Execution', id],
    ['Version', version === null ? undefined : String(version)],
    ['Time', durationMs === null ? undefined : `${durationMs} ms`],
    ['Isolation', isolation ?? undefined],
    ['Worker', worker ?? undefined],
    ['Attempt', attempt > 1 ? String(attempt) : undefined],
  ] as const
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1 text-xs">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name} className="flex gap-1.5">
            <dt className="text-muted">{name}</dt>
            <dd className="font-mono break-all">
              <SafeText max={120}>{value}</SafeText>
            </dd>
          </div>
        ),
      )}
    </dl>
  )
}

function Ended({ execution }: { readonly execution: Execution }) {
  const { errorMessage, errorCode } = execution
  return (
    <>
      {errorMessage !== null && (
        <p role="alert" className="rounded-md bg-bad-soft p-3 text-sm break-words text-bad">
          {errorCode !== null && <code className="mr-2 font-mono text-xs">{errorCode}</code>}
          <SafeText max={2000}>{errorMessage}</SafeText>
        </p>
      )}
      <ResultView execution={execution} />
    </>
  )
}

function Plan({ plan }: { readonly plan: NonNullable<RunState['plan']> }) {
  return (
    <>
      <p className="text-sm">
        This would run. Nothing has been called.
        {plan.needsApproval && ' The call would wait for approval.'}
      </p>
      <JsonTree value={plan.plan} />
    </>
  )
}
