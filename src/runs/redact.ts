import { redactValue } from '../base/redact-value.ts'
import type { RunOutcome, RunPlan } from '../contract/run.ts'
import type { Redactor } from '../contract/secret.ts'

type Redact = (text: string) => string

/** What a run gave, without secrets. */
export function redactOutcome(outcome: RunOutcome, redact: Redact): RunOutcome {
  const { stdout, stderr } = outcome.result
  return {
    ...outcome,
    result: { ...outcome.result, stdout: redact(stdout), stderr: redact(stderr) },
    ...(outcome.output === undefined ? {} : { output: redactValue(outcome.output, redact) }),
    errorMessage: outcome.errorMessage === null ? null : redact(outcome.errorMessage),
  }
}

/** What a run would be, without secrets. */
export function redactPlan(plan: RunPlan, redact: Redact): RunPlan {
  const { argv } = plan
  return argv === undefined ? plan : { ...plan, argv: argv.map(redact) }
}

/** Redacts the secrets of both. */
export const bothOf = (one: Redactor, other: Redactor | undefined): Redactor =>
  other === undefined
    ? one
    : Object.assign((text: string) => other(one(text)), {
        unfinished: (text: string, atLeast = 0) => untilStable(text, [one, other], atLeast),
      })

function untilStable(text: string, redactors: readonly Redactor[], atLeast: number): number {
  const length = redactors.reduce((held, redactor) => redactor.unfinished(text, held), atLeast)
  return length === atLeast ? length : untilStable(text, redactors, length)
}
