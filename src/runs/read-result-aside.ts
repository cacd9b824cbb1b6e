import { TooldexError } from '../base/errors.ts'
import { canStartThreads, TaskTooLarge, WorkerPool } from '../base/worker-pool.ts'
import type { ResultContent } from '../contract/execution.ts'
import { type ResultPage, type ResultQuery, readResult } from './read-result.ts'

/** One reading, as the worker thread receives it. */
export interface ReadTask {
  readonly content: ResultContent
  readonly query: ResultQuery
}

/** A short output is read at once; a path or a pattern may take long on little. */
const longestHere = 64 * 1024
let pool: WorkerPool | undefined

/** Reads a part of a stored output in a worker thread with a deadline, so that no other request waits for it. */
export async function readResultAside(
  content: ResultContent,
  query: ResultQuery,
  signal?: AbortSignal,
): Promise<ResultPage> {
  const isShort = query.path === undefined && query.grep === undefined && content.content.length <= longestHere
  if (isShort || !canStartThreads) return readResult(content, query)
  pool ??= new WorkerPool({ module: new URL('./read-result-worker.js', import.meta.url) })
  try {
    return await pool.run<ResultPage>({ content, query } satisfies ReadTask, signal)
  } catch (error) {
    if (!(error instanceof TaskTooLarge)) throw error
    throw new TooldexError('INPUT_INVALID', `Reading the output takes more than ${error.message}.`, {
      hint: 'Request less: a path without .., a simpler pattern, or a page.',
    })
  }
}
