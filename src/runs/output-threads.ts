import { TooldexError } from '../base/errors.ts'
import { lazyModule } from '../base/lazy-module.ts'
import { TaskTooLarge, unboundedWaiting, WorkerPool } from '../base/worker-thread.ts'
import type { ResultContent } from '../contract/execution.ts'
import type { Replacement } from '../contract/secret.ts'
import { redactJson, replaceAll } from '../rules/redact-json.ts'
import type { OutputResults, OutputTask } from './output-tasks.ts'
import { type ResultQuery, type ResultSlice, readResult } from './read-result.ts'

const loadOutputTasks = lazyModule(() => import('./output-tasks.ts'))

/** Shorter outputs are read on this thread, unless with a path or a pattern, which can be slow on short texts. */
const maxInlineLength = 64 * 1024
// A secret has about thirty forms, and the whole text is searched for each.
const maxCompared = 4_000_000

const tasks = {
  module: new URL('./output-worker.js', import.meta.url),
  here: async (task: OutputTask) => (await loadOutputTasks()).doOutputTask(task),
}
const readers = new WorkerPool<OutputTask>(tasks)
// The slots of the runner bound the number of waiting outputs; the output of a finished run is never rejected.
const finishers = new WorkerPool<OutputTask>({ ...tasks, ...unboundedWaiting })

/** Reads a part of a stored output in a worker thread with a deadline, so that it does not block other requests. */
export async function readResultInWorker(
  content: ResultContent,
  query: ResultQuery,
  signal?: AbortSignal,
): Promise<ResultSlice> {
  const isShort = query.path === undefined && query.grep === undefined && content.content.length <= maxInlineLength
  if (isShort) return readResult(content, query)
  try {
    return await readers.run<ResultSlice>({ kind: 'read', content, query }, signal)
  } catch (error) {
    if (!(error instanceof TaskTooLarge)) throw error
    throw new TooldexError('INPUT_INVALID', `Reading the output takes more than ${error.message}.`, {
      hint: 'Use a path without .., a simpler pattern, or offset and limit.',
    })
  }
}

/** Applies replacements to a text, or to the strings of a JSON text; for large texts in a worker thread. */
export async function replaceInOutput(
  text: string,
  replacements: readonly Replacement[],
  isJson = false,
): Promise<string> {
  if (text.length * replacements.length > maxCompared)
    return (await finishOutput({ kind: 'redact', text, isJson, replacements })) ?? text
  const replace = (part: string) => replaceAll(part, replacements)
  return isJson ? redactJson(text, replace) : replace(text)
}

/** Runs a task on the output of a finished run in a worker thread. */
export async function finishOutput<Task extends OutputTask>(task: Task): Promise<OutputResults[Task['kind']]> {
  try {
    return await finishers.run<OutputResults[Task['kind']]>(task)
  } catch (error) {
    if (!(error instanceof TaskTooLarge)) throw error
    throw new TooldexError('OUTPUT_LIMIT', `The output is too large: storing it takes more than ${error.message}.`)
  }
}
