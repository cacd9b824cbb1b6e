import { Worker } from 'node:worker_threads'
import { TooldexError } from '../base/errors.ts'
import { Semaphore } from '../base/semaphore.ts'
import type { ResultContent } from '../contract/execution.ts'
import { type ResultPage, type ResultQuery, readResult } from './read-result.ts'

/** What the other thread is given. */
export interface AsideResult {
  readonly content: ResultContent
  readonly query: ResultQuery
}

/** What it answers. */
export type AsideAnswer =
  | { readonly page: ResultPage }
  | { readonly error: Pick<TooldexError, 'code' | 'message' | 'hint' | 'problems'> }

/** What is read in a moment is read where it is asked for; a path may take long on little. */
const longestHere = 64 * 1024
const deadlineMs = 5000
/** Many times the largest output that is kept. */
const mostMegabytes = 512
/** Each is a thread with memory of its own. */
const places = new Semaphore({ slots: 2, waiting: 50 })
const isBuilt = import.meta.url.endsWith('.js')

/** Reads a part of a kept output without keeping anyone else waiting, and not for longer than some seconds. */
export async function readResultAside(
  content: ResultContent,
  query: ResultQuery,
  signal?: AbortSignal,
): Promise<ResultPage> {
  const isShort = query.path === undefined && content.content.length <= longestHere
  if (isShort || !isBuilt) return readResult(content, query)
  return places.run(() => readInThread(content, query, signal), { signal })
}

async function readInThread(
  content: ResultContent,
  query: ResultQuery,
  signal: AbortSignal | undefined,
): Promise<ResultPage> {
  const worker = new Worker(new URL('./read-result-worker.js', import.meta.url), {
    workerData: { content, query },
    resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
  })
  try {
    return await answerOf(worker, signal)
  } finally {
    await worker.terminate()
  }
}

function answerOf(worker: Worker, signal: AbortSignal | undefined): Promise<ResultPage> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(tooMuch(`${deadlineMs / 1000} s`)), deadlineMs)
    const cancel = (): void => reject(new TooldexError('EXECUTION_CANCELLED', 'The reading was cancelled.'))
    signal?.addEventListener('abort', cancel, { once: true })
    if (signal?.aborted) cancel()
    worker.on('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch(`${mostMegabytes} MB of memory`) : error),
    )
    worker.on('exit', () => {
      clearTimeout(late)
      signal?.removeEventListener('abort', cancel)
      reject(new Error('the thread that reads ended early'))
    })
    worker.on('message', (answer: AsideAnswer) => {
      if ('page' in answer) return resolve(answer.page)
      const { code, message, ...more } = answer.error
      reject(new TooldexError(code, message, more))
    })
  })
}

const tooMuch = (what: string): TooldexError =>
  new TooldexError('INPUT_INVALID', `Looking through the output takes more than ${what}.`, {
    hint: 'Ask for less: a path without .. in it, or a page.',
  })
