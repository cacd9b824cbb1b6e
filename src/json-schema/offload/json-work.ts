import { TooldexError } from '../../base/errors.ts'
import { type MissingPart, parseExactNumbers, readExactNumber } from '../../base/exact-numbers.ts'
import { fromJsonText, JsonText, joinJson, maxParsedHere, type SplitJson } from '../../base/json-text.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { Problem } from '../../base/problem.ts'
import { OutOfBudget, WorkBudget } from '../../base/work-budget.ts'
import { TaskTooLarge, WorkerPool } from '../../base/worker-thread.ts'
import { type ReadJsonOptions, readJsonBytes } from '../../documents/read-json.ts'
import {
  type CheckSchemaOptions,
  checkSchema,
  compileSchema,
  type SchemaCache,
  type SchemaValidator,
} from '../index.ts'
import { limitsHere } from '../limits.ts'
import { tooMuchWorkProblem, type Validated } from '../schema-validator.ts'
import type { JsonTask, PatternAndText, PatternFault, ReadText } from './json-tasks.ts'

const loadJsonTasks = lazyModule(() => import('./json-tasks.ts'))

/** Options of a validation or a check. */
export interface WorkOptions {
  readonly signal?: AbortSignal | undefined
  readonly cache?: SchemaCache | undefined
  /** Omits the value with its defaults; transferring a large one back takes longer than validating it. */
  readonly problemsOnly?: boolean | undefined
  /** The name of the value in messages; default `the input`. */
  readonly root?: string | undefined
}

const pool = new WorkerPool<JsonTask>({
  module: new URL('./json-worker.js', import.meta.url),
  here: async (task) => (await loadJsonTasks()).doJsonTask(task),
  deadlineMs: 5000,
})

interface Prepared {
  readonly text: string
  validator?: SchemaValidator
}

// The same tool is called many times; its schema is serialized and compiled once.
const prepared = new WeakMap<object, Prepared>()

function prepare(schema: object): Prepared {
  const entry = prepared.get(schema) ?? { text: JSON.stringify(schema) }
  prepared.set(schema, entry)
  return entry
}

/** Validates a value: small ones on this thread, all others in a worker thread, so that they do not block other requests. */
export async function validateValue(schema: object, value: unknown, options: WorkOptions = {}): Promise<Validated> {
  const { cache, signal, problemsOnly = false, root } = options
  const entry = prepare(schema)
  return tryOnMainThread(
    () => {
      if (entry.text.length > limitsHere.bytes) throw new OutOfBudget('the size of the schema')
      if (value instanceof JsonText) throw new OutOfBudget('the size of the value')
      entry.validator ??= compileSchema(schema, cache, new WorkBudget(limitsHere.steps))
      return entry.validator.validateHere(value, root)
    },
    () => ({ kind: 'validate', schema: entry.text, value: toText(value), problemsOnly, root }),
    { signal, tooMuch: (where) => ({ value, problems: [tooMuchWorkProblem(where, root)] }) },
  )
}

const toText = (value: unknown): string => (value instanceof JsonText ? value.json : (JSON.stringify(value) ?? 'null'))

/** Checks a schema: small ones on this thread, all others in a worker thread. */
export async function checkSchemaText(
  schema: unknown,
  pointer: string,
  { object = false, signal }: CheckSchemaOptions & WorkOptions = {},
): Promise<readonly Problem[]> {
  const text = JSON.stringify(schema)
  return tryOnMainThread(
    () => {
      if (text.length > limitsHere.bytes) throw new OutOfBudget('the size of the schema')
      return checkSchema(schema, pointer, { object }, new WorkBudget(limitsHere.steps))
    },
    () => ({ kind: 'check schema', schema: text, pointer, object }),
    {
      signal,
      tooMuch: (where) => [{ ...tooMuchWorkProblem(where), pointer, message: `the schema is too complex (${where})` }],
    },
  )
}

// Visits every value at most once.
const plainPath = /^\$(?:\.[\w-]+|\.\*|\[(?:\d+|\*|'[^'\\]*'|"[^"\\]*")\])*$/

/** All values that a JSONPath selects in a JSON text, undefined if it is not JSON; on this thread only if both are small and simple. */
export async function findInJsonText(text: string, path: string, signal?: AbortSignal): Promise<unknown> {
  const task = { kind: 'find', text, path } as const
  const found = await tryOnMainThread<typeof task, ReadText>(
    async () => {
      if (text.length > maxParsedHere || !plainPath.test(path))
        throw new OutOfBudget(`the path '${path.slice(0, 100)}'`)
      return (await loadJsonTasks()).doJsonTask(task) as ReadText
    },
    () => task,
    {
      signal,
      tooMuch: (where) => {
        throw new TooldexError('INPUT_INVALID', `It takes too long to apply ${where}.`, {
          hint: 'Use a path without .. and without filters in filters.',
        })
      },
    },
  )
  return 'json' in found ? fromJsonText(found.json) : undefined
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether integers that cannot be represented exactly become strings; default true. */
  readonly exact?: boolean | undefined
}

/** The value at a pointer of a JSON text; a long text is parsed in a worker thread, and a long part of it stays a `JsonText`. */
export async function readJsonPart(
  text: string,
  pointer: string,
  { signal, exact = true }: ReadOptions = {},
): Promise<{ readonly value: unknown } | MissingPart> {
  if (text.length <= maxParsedHere) return readExactNumber(text, pointer, exact ? parseExactNumbers : JSON.parse)
  const tooMuch = (where: string): never => {
    throw new TooldexError('OUTPUT_LIMIT', `It takes too long to read ${where}.`)
  }
  const task: JsonTask = { kind: 'read', text, pointer, exact }
  const found = await inThread<JsonTask, ReadText>(task, 'the JSON text', { signal, tooMuch })
  return 'json' in found ? { value: fromJsonText(found.json) } : found
}

// Shorter ones are scanned and parsed in a few milliseconds.
const maxReadHere = 256 * 1024

/** Parses JSON like `readJsonBytes`; a long text in a worker thread, which receives the bytes and returns long arrays in pieces. */
export async function readJsonInTurns(
  bytes: Uint8Array<ArrayBuffer>,
  options: ReadJsonOptions,
  signal?: AbortSignal,
): Promise<unknown> {
  if (bytes.length <= maxReadHere) return readJsonBytes(bytes, options)
  const tooMuch = (where: string): never => {
    throw new TooldexError('TOO_LARGE', `It takes too long to read ${where}.`)
  }
  const task: JsonTask = { kind: 'read parts', bytes, options }
  const isWhole = bytes.length === bytes.buffer.byteLength
  const transfer = isWhole ? [bytes.buffer] : []
  return joinJson(await inThread<JsonTask, SplitJson>(task, 'the JSON text', { signal, tooMuch, transfer }), signal)
}

/** Whether each pattern matches its whole text; in a worker thread where that is more than a little work in all. */
export async function matchPatterns(
  pairs: readonly PatternAndText[],
  signal?: AbortSignal,
): Promise<readonly boolean[]> {
  return tryOnMainThread(
    async () => (await loadJsonTasks()).matchAll(pairs, new WorkBudget(limitsHere.steps)),
    () => ({ kind: 'match', pairs }),
    {
      signal,
      tooMuch: (where) => {
        throw new TooldexError('INPUT_INVALID', `The text is too long for ${where}.`)
      },
    },
  )
}

/** The patterns that do not compile, with the reasons; in a worker thread where compiling them is more than a little work. */
export async function findPatternFaults(
  patterns: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const refuse = (): never => {
    throw new TooldexError('INPUT_INVALID', `It takes too long to compile ${patterns.length} patterns.`, {
      hint: 'Use fewer or shorter patterns.',
    })
  }
  const faults = await tryOnMainThread<JsonTask, readonly PatternFault[]>(
    async () => {
      if (patterns.join('').length > limitsHere.bytes) throw new OutOfBudget('the patterns')
      return (await loadJsonTasks()).checkPatterns(patterns, new WorkBudget(limitsHere.steps))
    },
    () => ({ kind: 'check patterns', patterns }),
    { signal, tooMuch: refuse },
  )
  return new Map(faults)
}

interface ThreadOptions<Answer> {
  readonly signal?: AbortSignal | undefined
  /** The result for work that takes too long even in a worker thread. */
  readonly tooMuch: (where: string) => Answer
  /** Buffers to transfer to the thread instead of copying them. */
  readonly transfer?: readonly ArrayBuffer[]
}

async function tryOnMainThread<Task extends JsonTask, Answer>(
  onMainThread: () => Answer | Promise<Answer>,
  toTask: () => Task,
  { signal, tooMuch }: ThreadOptions<Answer>,
): Promise<Answer> {
  try {
    return await onMainThread()
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    return await inThread<Task, Answer>(toTask(), error.where, { signal, tooMuch })
  }
}

async function inThread<Task extends JsonTask, Answer>(
  task: Task,
  where: string,
  { signal, tooMuch, transfer }: ThreadOptions<Answer>,
): Promise<Answer> {
  try {
    return await pool.run<Answer>(task, signal, transfer)
  } catch (error) {
    if (error instanceof TaskTooLarge) return tooMuch(where)
    throw error
  }
}
