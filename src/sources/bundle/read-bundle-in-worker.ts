import { Worker } from 'node:worker_threads'
import { type ErrorCode, TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import type { Bundle, BundleTool } from '../../contract/bundle.ts'
import { checkTogether } from './check-references.ts'
import type { BundleFormat } from './detect-format.ts'
import { locateBundle, type ReadBundle } from './locate-bundle.ts'
import { readBundlePart } from './read-part.ts'

/** The input of the worker thread. */
export interface BundleWorkerInput {
  readonly text: string
  readonly file: string
  /** Problems to locate, instead of reading the text. */
  readonly problems?: readonly Problem[]
}

/** A bundle from another thread, which cannot locate further problems. */
type BundleFromWorker = Omit<ReadBundle, 'place'>

/** A message of the worker thread. */
export type BundleWorkerMessage =
  | { readonly tools: readonly BundleTool[] }
  | { readonly end: Omit<Bundle, 'tools'> & Omit<BundleFromWorker, 'bundle'> }
  | { readonly placed: readonly Problem[] }
  | { readonly error: { code: ErrorCode; message: string; hint: string; problems: readonly Problem[] } }

interface BundleWorkerOptions {
  readonly file: string
  readonly signal?: AbortSignal | undefined
}

/** Texts up to this size are read on the calling thread. */
const maxHere = 32 * 1024
const isBuilt = import.meta.url.endsWith('.js')
const isShort = (text: string) => text.length <= maxHere || !isBuilt

/** Reads a bundle without blocking the event loop: a long text in a worker thread. */
export async function readBundleInWorker(
  text: string,
  { file, signal }: BundleWorkerOptions,
): Promise<BundleFromWorker> {
  if (isShort(text)) return readBundle(text, { file })
  const tools: BundleTool[] = []
  return askAside({ text, file }, signal, (message) => {
    if ('tools' in message) tools.push(...message.tools)
    if (!('end' in message)) return undefined
    const { problems, wrong, ...rest } = message.end
    return { bundle: { ...rest, tools }, problems, wrong }
  })
}

/** Adds lines and columns to problems at JSON pointers; reads the text again for that. */
export async function locateBundleInWorker(
  text: string,
  { file, signal }: BundleWorkerOptions,
  problems: readonly Problem[],
): Promise<readonly Problem[]> {
  if (isShort(text)) return locateBundleInline({ text, file, problems })
  return askAside({ text, file, problems }, signal, (message) => ('placed' in message ? message.placed : undefined))
}

/** Locates problems on this thread. */
export function locateBundleInline({ text, file, problems = [] }: BundleWorkerInput): readonly Problem[] {
  const { place } = readBundle(text, { file })
  return problems.map((problem) => place(problem))
}

/** Starts a worker thread and resolves with its first message that is a result. */
async function askAside<Answer>(
  input: BundleWorkerInput,
  signal: AbortSignal | undefined,
  hear: (message: BundleWorkerMessage) => Answer | undefined,
): Promise<Answer> {
  const worker = new Worker(new URL('./read-bundle-worker.js', import.meta.url), { workerData: input })
  try {
    return await new Promise((resolve, reject) => {
      const cancel = () => reject(new TooldexError('EXECUTION_CANCELLED', 'Reading the bundle was cancelled.'))
      if (signal?.aborted) return cancel()
      signal?.addEventListener('abort', cancel, { once: true })
      worker.on('error', reject)
      worker.on('exit', () => reject(new Error('the reading thread exited early')))
      worker.on('message', (message: BundleWorkerMessage) => {
        if ('error' in message) return reject(toError(message.error))
        if ('tools' in message) setImmediate(() => worker.postMessage('next'))
        const answer = hear(message)
        if (answer !== undefined) resolve(answer)
      })
    })
  } finally {
    await worker.terminate()
  }
}

const toError = ({ code, message, ...more }: Extract<BundleWorkerMessage, { error: object }>['error']) =>
  new TooldexError(code, message, more)

/** The file of a text and, unless it is detected, its format. */
interface ReadBundleOptions {
  readonly file: string
  readonly format?: BundleFormat | undefined
}

/**
 * Reads tools, categories and policies from YAML or JSON: a bundle, a CLI config, or a list of tools in the format of Tooldex, OpenAI, MCP or
 * Anthropic. Throws a TooldexError only if no part of the text can be used.
 */
export function readBundle(text: string, options: ReadBundleOptions): ReadBundle & { readonly format: BundleFormat } {
  const part = readBundlePart(text, { ...options, check: (own) => checkTogether([own]) })
  return { ...locateBundle([part], part.problems), format: part.format }
}
