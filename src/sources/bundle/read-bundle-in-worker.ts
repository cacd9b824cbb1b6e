import { TooldexError } from '../../base/errors.ts'
import { joinJson, type SplitJson, splitJson } from '../../base/json-text.ts'
import type { Problem } from '../../base/problem.ts'
import { canStartThreads, TaskTooLarge, WorkerPool } from '../../base/worker-thread.ts'
import type { OpenApiOptions } from '../../contract/bundle.ts'
import { checkBundleNames } from './check-content.ts'
import { locateBundle, type ReadBundle } from './locate-bundle.ts'
import type { BundleFormat } from './read-part.ts'
import { loadOpenApiReader, type ReadOpenApi, readBundlePart } from './read-part.ts'

/** Reading a text, or locating problems in it. */
interface BundleTask {
  readonly text: string
  readonly file: string
  readonly openapi?: OpenApiOptions | undefined
  readonly problems?: readonly Problem[]
}

/** A bundle from another thread, which cannot locate further problems. */
type BundleFromWorker = Omit<ReadBundle, 'place'> & { readonly format: BundleFormat }

interface BundleWorkerOptions {
  readonly file: string
  /** The choices for an OpenAPI document. */
  readonly openapi?: OpenApiOptions | undefined
  readonly signal?: AbortSignal | undefined
}

/** Texts up to this size are read on the calling thread. */
const maxHere = 32 * 1024
const isShort = (text: string) => text.length <= maxHere || !canStartThreads

const pool = new WorkerPool<BundleTask>({
  module: new URL('./read-bundle-worker.js', import.meta.url),
  here: doBundleTask,
  deadlineMs: 120_000,
  memoryMb: 2048,
})

/** Reads a bundle without blocking the event loop: a long text in a worker thread. */
export async function readBundleInWorker(
  text: string,
  { file, openapi, signal }: BundleWorkerOptions,
): Promise<BundleFromWorker> {
  if (isShort(text)) return readBundle(text, { file, openApi: await loadOpenApiReader(text, openapi) })
  return (await inThread({ text, file, openapi }, signal)) as BundleFromWorker
}

/** Adds lines and columns to problems at JSON pointers; reads the text again for that. */
export async function locateBundleInWorker(
  text: string,
  { file, openapi, signal }: BundleWorkerOptions,
  problems: readonly Problem[],
): Promise<readonly Problem[]> {
  if (isShort(text)) return locateProblems({ text, file, openapi, problems })
  return (await inThread({ text, file, openapi, problems }, signal)) as readonly Problem[]
}

async function inThread(task: BundleTask, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await joinJson(await pool.run<SplitJson>(task, signal), signal)
  } catch (error) {
    if (!(error instanceof TaskTooLarge)) throw error
    throw new TooldexError('TOO_LARGE', `${task.file} is too large: reading it takes more than ${error.message}.`, {
      hint: 'Split it into several files.',
    })
  }
}

/** Runs one task on this thread. */
export async function doBundleTask(task: BundleTask): Promise<SplitJson> {
  if (task.problems !== undefined) return splitJson(await locateProblems(task))
  const { text, file, openapi } = task
  const { bundle, problems, wrong, format } = readBundle(text, {
    file,
    openApi: await loadOpenApiReader(text, openapi),
  })
  return splitJson({ bundle, problems, wrong, format } satisfies BundleFromWorker)
}

async function locateProblems({ text, file, openapi, problems = [] }: BundleTask): Promise<readonly Problem[]> {
  const { place } = readBundle(text, { file, openApi: await loadOpenApiReader(text, openapi) })
  return problems.map((problem) => place(problem))
}

/** The file of a text and, unless it is detected, its format. */
interface ReadBundleOptions {
  readonly file: string
  readonly openApi?: ReadOpenApi | undefined
  readonly format?: BundleFormat | undefined
}

/**
 * Reads tools, categories and policies from YAML or JSON: a bundle, a CLI config, an OpenAPI document, or a list of tools in the format of
 * Tooldex, OpenAI, MCP or Anthropic. Throws a TooldexError only if no part of the text can be used.
 */
export function readBundle(text: string, options: ReadBundleOptions): ReadBundle & { readonly format: BundleFormat } {
  const part = readBundlePart(text, { ...options, check: (own) => checkBundleNames([own]) })
  return { ...locateBundle([part], part.problems), format: part.format }
}
