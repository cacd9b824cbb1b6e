import type { CallToolResult } from '@modelcontextprotocol/client'
import { TooldexError } from '../../base/errors.ts'
import { fromJsonText, maxParsedHere } from '../../base/json-text.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { TaskTooLarge, unboundedWaiting, WorkerPool } from '../../base/worker-thread.ts'
import type { MessageAnswers, MessageTask, ReducedMessage } from './message-tasks.ts'
import { type MappedResult, mapResult, readObject } from './message-tasks.ts'

/** Longer messages are parsed in a worker thread. */
export const maxMessageHere = 128 * 1024

const loadMessageTasks = lazyModule(() => import('./message-tasks.ts'))
const pool = new WorkerPool<MessageTask>({
  module: new URL('./message-worker.js', import.meta.url),
  here: async (task) => (await loadMessageTasks()).doMessageTask(task),
  // The limits of calls bound the number of waiting messages; the result of a finished call is never rejected.
  ...unboundedWaiting,
})

/** The result of a call whose message was reduced; JSON cannot express it, so no server can send one. */
class LargeResult {
  readonly mapped: MappedResult

  constructor(mapped: MappedResult) {
    this.mapped = mapped
  }
}

/** The items of a long list as JSON; the list in the message is empty. */
class LargeItems {
  readonly texts: readonly string[]

  constructor(texts: readonly string[]) {
    this.texts = texts
  }
}

/** The key of a large result in the metadata of its message. */
const largeKey = 'tooldex/large'

/** Reduces a message in a worker thread; undefined for input that is not JSON. */
export function reduceMessage(
  bytes: Uint8Array<ArrayBuffer>,
  { isEvent = false, maxItems }: { readonly isEvent?: boolean; readonly maxItems: number },
): Promise<MessageAnswers['reduce']> {
  const transfer = bytes.length === bytes.buffer.byteLength ? [bytes.buffer] : []
  return inThread({ kind: 'reduce', bytes, isEvent, maxItems }, transfer)
}

/** The message that the client receives, with the result that was taken out of it. */
export function withResult({ message, result, items }: ReducedMessage): Record<string, unknown> {
  const withLarge = (large: LargeResult | LargeItems) => ({
    ...message,
    result: { ...(message.result as object), _meta: { [largeKey]: large } },
  })
  if (items !== undefined) return withLarge(new LargeItems(items))
  if (result === undefined) return { ...message }
  const { json, ...mapped } = result
  return withLarge(new LargeResult(json === undefined ? mapped : { ...mapped, output: fromJsonText(json) }))
}

/** The items of a list that was too long for the client; undefined where the message contains them. */
export function largeItems({ _meta }: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const large = (_meta as Record<string, unknown> | undefined)?.[largeKey]
  return large instanceof LargeItems ? large.texts : undefined
}

/** A result as the output of a tool; if the tool has an output schema, text that is JSON is parsed. */
export async function toOutput(result: CallToolResult, hasOutputSchema: boolean): Promise<MappedResult> {
  const large = result._meta?.[largeKey]
  const mapped = large instanceof LargeResult ? large.mapped : mapResult(result)
  if (!hasOutputSchema || !mapped.isText || typeof mapped.output !== 'string') return mapped
  const output = await readText(mapped.output)
  return output === undefined ? mapped : { ...mapped, output }
}

async function readText(text: string): Promise<unknown> {
  if (text.length <= maxParsedHere) return readObject(text)
  const json = await inThread({ kind: 'read', text })
  return json === undefined ? undefined : fromJsonText(json)
}

async function inThread<Task extends MessageTask>(
  task: Task,
  transfer: readonly ArrayBuffer[] = [],
): Promise<MessageAnswers[Task['kind']]> {
  try {
    return await pool.run<MessageAnswers[Task['kind']]>(task, undefined, transfer)
  } catch (error) {
    if (!(error instanceof TaskTooLarge)) throw error
    throw new TooldexError('OUTPUT_LIMIT', `The message is too large: reading it takes more than ${error.message}.`)
  }
}
