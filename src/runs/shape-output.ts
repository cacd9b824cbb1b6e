import { randomUUID } from 'node:crypto'
import { TooldexError } from '../base/errors.ts'
import { JsonText } from '../base/json-text.ts'
import type { FinishedRun } from '../contract/execution.ts'
import type { RunOutcome } from '../contract/run.ts'
import { storableText, storableValue } from '../rules/storable.ts'
import { isPrintedOutput } from './output-tasks.ts'
import { finishOutput } from './output-threads.ts'
import { previewText, previewValue } from './preview.ts'
import type { RunSettings } from './settings.ts'

/**
 * Converts an outcome for storage: output and logs are separate, and a large output is replaced by a preview and a handle. A run whose
 * output cannot be stored has failed.
 */
export async function shapeOutput(raw: RunOutcome, published: boolean, settings: RunSettings): Promise<FinishedRun> {
  try {
    return await shape(raw, published, settings)
  } catch (error) {
    if (!(error instanceof TooldexError) || error.code !== 'OUTPUT_LIMIT') throw error
    const { output: _, ...rest } = raw
    return shape({ ...rest, status: 'FAILED', errorCode: error.code, errorMessage: error.message }, published, settings)
  }
}

async function shape(raw: RunOutcome, published: boolean, settings: RunSettings): Promise<FinishedRun> {
  const outcome = storableOutcome(raw)
  const printed = outcome.output === undefined
  const { stdout, stderr } = outcome.result
  // The standard output of a command is its output; that of other tools is a log.
  const logs = { stdout: printed ? '' : stdout, stderr }
  const output = hasRun(outcome) ? (printed ? stdout : outcome.output) : null
  const whole = { outcome, outputData: output ?? null, logs, stored: null, published }
  const { content, preview, isSame } = await contentOf(output, stdout, settings.previewBytes)
  if (Buffer.byteLength(content) <= settings.inlineBytes)
    return output instanceof JsonText ? { ...whole, outputData: JSON.parse(content) } : whole
  return {
    ...whole,
    // A stored output must not be in the logs as well, which other callers can read.
    logs: { ...logs, stdout: isSame() ? '' : logs.stdout },
    outputData: preview(),
    stored: {
      handle: randomUUID(),
      mediaType: typeof output === 'string' ? 'text/plain' : 'application/json',
      content,
      lifeMs: settings.resultLifeMs,
      suspicious: outcome.suspicious,
    },
  }
}

interface Content {
  readonly content: string
  readonly preview: () => unknown
  /** Whether the standard output is the same. */
  readonly isSame: () => boolean
}

/** An output as text; a large value is parsed and serialized in a worker thread only. */
async function contentOf(output: unknown, stdout: string, previewBytes: number): Promise<Content> {
  if (output instanceof JsonText) {
    const { json } = output
    const { content = json, preview, printed } = await finishOutput({ kind: 'shape', json, stdout, previewBytes })
    return { content, preview: () => preview, isSame: () => printed }
  }
  if (typeof output === 'string')
    return {
      content: output,
      preview: () => previewText(output, previewBytes),
      isSame: () => isPrintedOutput(stdout, output),
    }
  return {
    content: JSON.stringify(output ?? null),
    preview: () => previewValue(output, previewBytes),
    isSame: () => isPrintedOutput(stdout, output),
  }
}

/** A run that failed without an exit code, a signal or any output never started, so there is no output. */
const hasRun = ({ status, output = '', result: { exitCode, signal, stdout } }: RunOutcome): boolean =>
  status === 'SUCCESS' || exitCode !== null || signal !== null || stdout !== '' || output !== ''

function storableOutcome(outcome: RunOutcome): RunOutcome {
  const { result, errorMessage, output } = outcome
  return {
    ...outcome,
    result: { ...result, stdout: storableText(result.stdout), stderr: storableText(result.stderr) },
    ...(output === undefined ? {} : { output: output instanceof JsonText ? output : storableValue(output) }),
    errorMessage: errorMessage === null ? null : storableText(errorMessage),
  }
}
