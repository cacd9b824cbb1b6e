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

/** Takes out what either knows. */
export const bothOf = (one: Redactor, other: Redactor | undefined): Redactor =>
  other === undefined
    ? one
    : Object.assign((text: string) => other(one(text)), {
        unfinished: (text: string) => Math.max(one.unfinished(text), other.unfinished(text)),
      })
