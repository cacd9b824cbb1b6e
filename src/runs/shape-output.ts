import { randomUUID } from 'node:crypto'
import { sameJson } from '../base/same-json.ts'
import { storableText, storableValue } from '../base/storable.ts'
import type { FinishedRun } from '../contract/execution.ts'
import type { RunOutcome } from '../contract/run.ts'
import { previewText, previewValue } from './preview.ts'
import type { RunSettings } from './settings.ts'

/** What is written of an outcome: the output apart from the logs, and a large one aside with a preview in its place. */
export function shapeOutput(given: RunOutcome, told: boolean, settings: RunSettings): FinishedRun {
  const outcome = storableOutcome(given)
  const printed = outcome.output === undefined
  const { stdout, stderr } = outcome.result
  // What a command prints is what it returns; of other tools it is a log.
  const logs = { stdout: printed ? '' : stdout, stderr }
  const output = hasRun(outcome) ? (printed ? stdout : outcome.output) : null
  const content = typeof output === 'string' ? output : JSON.stringify(output ?? null)
  const whole = { outcome, outputData: output ?? null, logs, stored: null, told }
  if (Buffer.byteLength(content) <= settings.inlineBytes) return whole
  const isText = typeof output === 'string'
  return {
    ...whole,
    // What is read by its handle is not in the logs as well, for others to read.
    logs: { ...logs, stdout: isWhatWasPrinted(stdout, output) ? '' : logs.stdout },
    outputData: isText ? previewText(content, settings.previewBytes) : previewValue(output, settings.previewBytes),
    stored: {
      handle: randomUUID(),
      mediaType: isText ? 'text/plain' : 'application/json',
      content,
      lifeMs: settings.resultLifeMs,
    },
  }
}

/** A run that failed without an exit code, a signal or a word of output never started, so there is no output. */
const hasRun = ({ status, output = '', result: { exitCode, signal, stdout } }: RunOutcome): boolean =>
  status === 'SUCCESS' || exitCode !== null || signal !== null || stdout !== '' || output !== ''

/** Commands that promise a structure print it. */
function isWhatWasPrinted(stdout: string, output: unknown): boolean {
  try {
    return stdout === output || sameJson(JSON.parse(stdout), output)
  } catch {
    return false
  }
}

function storableOutcome(outcome: RunOutcome): RunOutcome {
  const { result, errorMessage } = outcome
  return {
    ...outcome,
    result: { ...result, stdout: storableText(result.stdout), stderr: storableText(result.stderr) },
    ...(outcome.output === undefined ? {} : { output: storableValue(outcome.output) }),
    errorMessage: errorMessage === null ? null : storableText(errorMessage),
  }
}
