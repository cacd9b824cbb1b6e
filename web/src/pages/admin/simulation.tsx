import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { OperationInput, OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { SafeText } from '../../ui/safe-text.tsx'

type Policy = OperationInput<'policies.simulate'>['policy']
type Report = OperationOutput<'policies.simulate'>

interface SimulationProps {
  /** The stored policy that it replaces; empty for a new one. */
  readonly name: string
  readonly policy: Readonly<Record<string, unknown>>
}

const days = 30

/** What a policy would have done with the calls of the last days. */
export function Simulation({ name, policy }: SimulationProps) {
  const simulate = useMutation({
    mutationFn: () =>
      // The server checks it as it checks a saved policy.
      api.policies.simulate({ policy: policy as Policy, days, ...(name === '' ? {} : { name }) }),
  })
  return (
    <section className="flex flex-col gap-3 rounded-md border border-line p-3 text-sm" aria-label="Simulation">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p>What would it have done with the calls of the last {days} days?</p>
        <Button size="sm" isBusy={simulate.isPending} onClick={() => simulate.mutate()}>
          Simulate
        </Button>
      </div>
      {simulate.error !== null && <ErrorNotice error={simulate.error} />}
      {simulate.data !== undefined && <Outcome report={simulate.data} />}
    </section>
  )
}

const newly = [
  ['blocked', 'newly blocked', 'bad'],
  ['bounded', 'newly out of bounds', 'bad'],
  ['approval', 'newly need approval', 'warn'],
  ['allowed', 'newly allowed', 'ok'],
] as const satisfies readonly (readonly [keyof Report['newly'], string, Tone])[]

function Outcome({ report }: { readonly report: Report }) {
  const changed = newly.filter(([kind]) => report.newly[kind] > 0)
  const examples = report.groups.flatMap(({ caller, tool, examples }) =>
    examples.filter(({ outcome, current }) => outcome !== current).map((example) => ({ caller, tool, ...example })),
  )
  return (
    <div className="flex flex-col gap-2" aria-live="polite">
      <p>
        {report.executions.toLocaleString('en')} recorded calls were decided
        {report.truncated ? ', the newest ones' : ''}.{' '}
        {changed.length === 0 && 'None of them would have another outcome.'}
      </p>
      <div className="flex flex-wrap gap-1.5">
        {changed.map(([kind, label, tone]) => (
          <Badge key={kind} tone={tone}>
            {report.newly[kind].toLocaleString('en')} {label}
          </Badge>
        ))}
      </div>
      <ul className="flex flex-col gap-1">
        {examples.slice(0, 10).map(({ executionId, caller, tool, outcome, current, message }) => (
          <li key={executionId} className="break-words">
            <Link to="/executions/$id" params={{ id: executionId }} className="text-accent hover:underline">
              <SafeText max={100}>{tool}</SafeText>
            </Link>{' '}
            <SafeText max={300}>{`by ${caller ?? 'unknown'}: ${current} → ${outcome}. ${message ?? ''}`}</SafeText>
          </li>
        ))}
      </ul>
    </div>
  )
}
