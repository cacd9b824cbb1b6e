import { TooldexError } from '../base/errors.ts'
import { type Replacement, redactJson, replaceAll } from '../base/redact-value.ts'
import { canStartThreads, TaskTooLarge, WorkerPool } from '../base/worker-pool.ts'
import type { ResultContent } from '../contract/execution.ts'
import type { OutputAnswers, OutputTask } from './output-tasks.ts'
import { type ResultQuery, type ResultSlice, readResult } from './read-result.ts'

/** A short output is read at once; a path or a pattern may take long on little. */
const maxHere = 64 * 1024
// A secret has some thirty forms, and each is looked for in the whole text.
const maxCompared = 4_000_000

const module = new URL('./output-worker.js', import.meta.url)
let readers: WorkerPool | undefined
let finishers: WorkerPool | undefined

/** Reads a part of a stored output in a worker thread with a deadline, so that no other request waits for it. */
export async function readResultInWorker(
  content: ResultContent,
  query: ResultQuery,
  signal?: AbortSignal,
): Promise<ResultSlice> {
  const isShort = query.path === undefined && query.grep === undefined && content.content.length <= maxHere
  if (isShort || !canStartThreads) return readResult(content, query)
  readers ??= new WorkerPool({ module })
  try {
    return await readers.run<ResultSlice>({ kind: 'read', content, query } satisfies OutputTask, signal)
  } catch (error) {
    if (!(error instanceof TaskTooLarge)) throw error
    throw new TooldexError('INPUT_INVALID', `Reading the output takes more than ${error.message}.`, {
      hint: 'Request less: a path without .., a simpler pattern, or a page.',
    })
  }
}

/** Replaces texts in a text, or in the strings of a JSON text; where that takes long, in a worker thread. */
export async function replaceIn(text: string, replacements: readonly Replacement[], isJson = false): Promise<string> {
  if (text.length * replacements.length > maxCompared)
    return (await finishOutput({ kind: 'redact', text, isJson, replacements })) ?? text
  const replace = (part: string) => replaceAll(part, replacements)
  return isJson ? redactJson(text, replace) : replace(text)
}

// The slots of the runner bound how many outputs wait; the output of a run that has ended is not refused.
const unbounded = { waiting: Number.MAX_SAFE_INTEGER, waitingEach: Number.MAX_SAFE_INTEGER }

/** Works on the output of a run that has ended, in a worker thread. */
export async function finishOutput<Task extends OutputTask>(task: Task): Promise<OutputAnswers[Task['kind']]> {
  if (!canStartThreads) return (await import('./output-tasks.ts')).doOutputTask(task) as OutputAnswers[Task['kind']]
  finishers ??= new WorkerPool({ module, ...unbounded })
  try {
    return await finishers.run<OutputAnswers[Task['kind']]>(task)
  } catch (error) {
    if (!(error instanceof TaskTooLarge)) throw error
    throw new TooldexError('OUTPUT_LIMIT', `The output is too large: storing it takes more than ${error.message}.`)
  }
}
