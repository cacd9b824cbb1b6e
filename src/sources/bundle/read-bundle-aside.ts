import { Worker } from 'node:worker_threads'
import { type ErrorCode, TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import type { Bundle, BundleTool } from '../../contract/bundle.ts'
import { type ReadBundle, readBundle } from './read-bundle.ts'

/** What the other thread is given. */
export interface AsideInput {
  readonly text: string
  readonly file: string
}

/** What it tells, part by part. */
export type AsideMessage =
  | { readonly tools: readonly BundleTool[] }
  | { readonly end: Omit<Bundle, 'tools'> & { readonly warnings: readonly Problem[] } }
  | { readonly error: { code: ErrorCode; message: string; hint: string; problems: readonly Problem[] } }

/** What is read in a moment is read where it is asked for. */
const longestHere = 32 * 1024
const isBuilt = import.meta.url.endsWith('.js')

/** Reads a bundle without keeping anyone else waiting: a long text in a thread of its own. */
export async function readBundleAside(
  text: string,
  { file, signal }: { readonly file: string; readonly signal?: AbortSignal | undefined },
): Promise<Omit<ReadBundle, 'format'>> {
  if (text.length <= longestHere || !isBuilt) return readBundle(text, { file })
  const worker = new Worker(new URL('./read-bundle-worker.js', import.meta.url), { workerData: { text, file } })
  try {
    return await answerOf(worker, signal)
  } finally {
    await worker.terminate()
  }
}

function answerOf(worker: Worker, signal: AbortSignal | undefined): Promise<Omit<ReadBundle, 'format'>> {
  const tools: BundleTool[] = []
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new TooldexError('EXECUTION_CANCELLED', 'The reading was cancelled.'))
    if (signal?.aborted) return cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    worker.on('error', reject)
    worker.on('exit', () => reject(new Error('the thread that reads ended early')))
    worker.on('message', (message: AsideMessage) => {
      if ('tools' in message) return void tools.push(...message.tools)
      if ('error' in message) return reject(toError(message.error))
      const { warnings, ...rest } = message.end
      resolve({ bundle: { ...rest, tools }, warnings })
    })
  })
}

const toError = ({
  code,
  message,
  ...more
}: {
  code: ErrorCode
  message: string
  hint: string
  problems: readonly Problem[]
}) => new TooldexError(code, message, more)
