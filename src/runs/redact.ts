import { fromJsonText, JsonText } from '../base/json-text.ts'
import { mapStrings } from '../base/json-values.ts'
import type { RunControls } from '../contract/executor.ts'
import type { RunOutcome, RunPlan } from '../contract/run.ts'
import type { Redactor, Replacement } from '../contract/secret.ts'
import { requireStorableLevels } from '../rules/storable.ts'
import { replaceInOutput } from './output-threads.ts'

/** Removes secrets from an outcome; long texts are searched in worker threads. */
export async function redactOutcome(outcome: RunOutcome, redact: Redactor): Promise<RunOutcome> {
  const replacements = redact.replacements()
  const clean = (text: string) => replaceInOutput(text, replacements)
  const { stdout, stderr } = outcome.result
  const { output, errorMessage } = outcome
  return {
    ...outcome,
    result: { ...outcome.result, stdout: await clean(stdout), stderr: await clean(stderr) },
    ...(output === undefined ? {} : { output: await cleanValue(output, replacements) }),
    errorMessage: errorMessage === null ? null : await clean(errorMessage),
  }
}

async function cleanValue(value: unknown, replacements: readonly Replacement[]): Promise<unknown> {
  if (value instanceof JsonText) return new JsonText(await replaceInOutput(value.json, replacements, true))
  if (typeof value === 'string') return replaceInOutput(value, replacements)
  const json = JSON.stringify(requireStorableLevels(value)) ?? 'null'
  const clean = await replaceInOutput(json, replacements, true)
  return clean === json ? value : fromJsonText(clean)
}

/** Removes secrets from a plan. */
export function redactPlan(plan: RunPlan, redact: Redactor): RunPlan {
  return 'argv' in plan ? { ...plan, argv: plan.argv.map((arg) => redact(arg)) } : plan
}

/** Combines two redactors. */
export const bothOf = (one: Redactor, other: Redactor | undefined): Redactor =>
  other === undefined
    ? one
    : Object.assign((text: string) => other(one(text)), {
        unfinished: (text: string, atLeast = 0) => untilStable(text, [one, other], atLeast),
        replacements: () => [...one.replacements(), ...other.replacements()],
      })

function untilStable(text: string, redactors: readonly Redactor[], atLeast: number): number {
  const length = redactors.reduce((pending, redactor) => redactor.unfinished(text, pending), atLeast)
  return length === atLeast ? length : untilStable(text, redactors, length)
}

type OnOutput = NonNullable<RunControls['onOutput']>

/** Passes the output of a tool on without secrets; text that may be the beginning of one is held back until more arrives. */
export function redactStream(onOutput: OnOutput, redact: Redactor): { readonly take: OnOutput; end(): void } {
  const pending = { stdout: '', stderr: '' }
  return {
    take(stream, text, message) {
      const all = pending[stream] + text
      const complete = all.length - redact.unfinished(all)
      pending[stream] = all.slice(complete)
      const shown = message && { ...message, data: mapStrings(message.data, redact) }
      if (complete > 0 || shown !== undefined) onOutput(stream, redact(all.slice(0, complete)), shown)
    },
    end() {
      for (const stream of ['stdout', 'stderr'] as const)
        if (pending[stream] !== '') onOutput(stream, redact(pending[stream]))
    },
  }
}
