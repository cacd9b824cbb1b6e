import { TooldexError } from '../../base/errors.ts'
import { type MissingPart, parseExactly, readExactly } from '../../base/exact-numbers.ts'
import { fromJsonText, JsonText, maxParsedHere } from '../../base/json-text.ts'
import { compilePattern } from '../../base/pattern.ts'
import type { Problem } from '../../base/problem.ts'
import { OutOfBudget, WorkBudget } from '../../base/work-budget.ts'
import { canStartThreads, TaskTooLarge, WorkerPool } from '../../base/worker-pool.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { type ReadJsonOptions, readJsonBytes } from '../../documents/read-json.ts'
import {
  type CheckSchemaOptions,
  checkSchema,
  compileSchema,
  type SchemaCache,
  type SchemaValidator,
} from '../index.ts'
import { limitsHere } from '../limits.ts'
import { tooMuchWork, type Validated } from '../schema-validator.ts'
import type { JsonParts, JsonTask, ReadText } from './json-tasks.ts'

/** How a piece of work is ended early, and where compiled schemas are kept. */
export interface WorkOptions {
  readonly signal?: AbortSignal | undefined
  readonly cache?: SchemaCache | undefined
  /** The value with its defaults is not used; handing a large one back takes longer than validating it. */
  readonly problemsOnly?: boolean | undefined
  /** What messages call the value itself: by default `the input`. */
  readonly root?: string | undefined
}

let pool: WorkerPool | undefined

interface Prepared {
  readonly text: string
  validator?: SchemaValidator
}

// The same tool is called many times; its schema is written out and compiled once.
const prepared = new WeakMap<object, Prepared>()

function prepare(schema: object): Prepared {
  const known = prepared.get(schema) ?? { text: JSON.stringify(schema) }
  prepared.set(schema, known)
  return known
}

/** Validates a value: small ones on this thread, all others in a worker thread, so that nobody else waits for them. */
export async function validateValue(schema: object, value: unknown, options: WorkOptions = {}): Promise<Validated> {
  const { cache, signal, problemsOnly = false, root } = options
  const known = prepare(schema)
  return hereOrThere(
    () => {
      if (known.text.length > limitsHere.bytes) throw new OutOfBudget('the size of the schema')
      if (value instanceof JsonText) throw new OutOfBudget('the size of the value')
      known.validator ??= compileSchema(schema, cache, new WorkBudget(limitsHere.steps))
      return known.validator.validateHere(value, root)
    },
    () => ({ kind: 'validate', schema: known.text, value: toText(value), problemsOnly, root }),
    { signal, tooMuch: (where) => ({ value, problems: [tooMuchWork(where, root)] }) },
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
  return hereOrThere(
    () => {
      if (text.length > limitsHere.bytes) throw new OutOfBudget('the size of the schema')
      return checkSchema(schema, pointer, { object }, new WorkBudget(limitsHere.steps))
    },
    () => ({ kind: 'check schema', schema: text, pointer, object }),
    {
      signal,
      tooMuch: (where) => [{ ...tooMuchWork(where), pointer, message: `the schema is too complex (${where})` }],
    },
  )
}

// Looks at every value once at most.
const plainPath = /^\$(?:\.[\w-]+|\.\*|\[(?:\d+|\*|'[^'\\]*'|"[^"\\]*")\])*$/

/** All values that a JSONPath finds in a JSON text, undefined where it is not JSON; here only if both are small and plain. */
export async function findInText(text: string, path: string, signal?: AbortSignal): Promise<unknown> {
  const task = { kind: 'find', text, path } as const
  const found = await hereOrThere<typeof task, ReadText>(
    async () => {
      if (text.length > maxParsedHere || !plainPath.test(path))
        throw new OutOfBudget(`the path '${path.slice(0, 100)}'`)
      return (await import('./json-tasks.ts')).doJsonTask(task) as ReadText
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

/** How a JSON text is read. */
export interface ReadOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether whole numbers that cannot be kept exactly become strings; so unless false. */
  readonly exact?: boolean | undefined
}

/** The value at a pointer of a JSON text; a long text is read in a worker thread, and a long part of it stays a `JsonText`. */
export async function readJsonPart(
  text: string,
  pointer: string,
  { signal, exact = true }: ReadOptions = {},
): Promise<{ readonly value: unknown } | MissingPart> {
  if (text.length <= maxParsedHere) return readExactly(text, pointer, exact ? parseExactly : JSON.parse)
  const tooMuch = (where: string): never => {
    throw new TooldexError('OUTPUT_LIMIT', `It takes too long to read ${where}.`)
  }
  const task: JsonTask = { kind: 'read', text, pointer, exact }
  const found = await inThread<JsonTask, ReadText>(task, 'the JSON text', { signal, tooMuch })
  return 'json' in found ? { value: fromJsonText(found.json) } : found
}

// Shorter ones are scanned and read in a few milliseconds.
const maxReadHere = 256 * 1024

/** Reads JSON as `readJsonBytes` does; much of it in a worker thread, which takes the bytes over and hands back long lists in pieces. */
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
  const { rest, lists } = await inThread<JsonTask, JsonParts>(task, 'the JSON text', { signal, tooMuch, transfer })
  const turn = yieldTurns(signal)
  const root = { value: rest }
  for (const { path, pieces } of lists) {
    const list = ['value', ...path].reduce<unknown>((held, key) => (held as Record<string, unknown>)[key], root)
    for (const piece of pieces) {
      ;(list as unknown[]).push(...(JSON.parse(piece) as unknown[]))
      await turn()
    }
  }
  return root.value
}

/** Whether a pattern matches a whole text; a long text is matched in a worker thread. */
export async function matchesPattern(pattern: string, text: string, signal?: AbortSignal): Promise<boolean> {
  return hereOrThere(
    () => {
      const budget = new WorkBudget(limitsHere.steps)
      return compilePattern(pattern, budget).test(text, budget)
    },
    () => ({ kind: 'match', pattern, text }),
    {
      signal,
      tooMuch: (where) => {
        throw new TooldexError('INPUT_INVALID', `The text is too long for ${where}.`)
      },
    },
  )
}

interface Elsewhere<Answer> {
  readonly signal?: AbortSignal | undefined
  /** Answers for work that takes too long even in a thread of its own. */
  readonly tooMuch: (where: string) => Answer
  /** Memory that goes to the thread instead of being copied. */
  readonly transfer?: readonly ArrayBuffer[]
}

async function hereOrThere<Task extends JsonTask, Answer>(
  here: () => Answer | Promise<Answer>,
  toTask: () => Task,
  { signal, tooMuch }: Elsewhere<Answer>,
): Promise<Answer> {
  try {
    return await here()
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    return await inThread<Task, Answer>(toTask(), error.where, { signal, tooMuch })
  }
}

async function inThread<Task extends JsonTask, Answer>(
  task: Task,
  where: string,
  { signal, tooMuch, transfer }: Elsewhere<Answer>,
): Promise<Answer> {
  if (!canStartThreads) return (await import('./json-tasks.ts')).doJsonTask(task) as Answer
  pool ??= new WorkerPool({ module: new URL('./json-worker.js', import.meta.url), deadlineMs: 5000 })
  try {
    return await pool.run<Answer>(task, signal, transfer)
  } catch (error) {
    if (error instanceof TaskTooLarge) return tooMuch(where)
    throw error
  }
}
