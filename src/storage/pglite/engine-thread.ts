import { workerData } from 'node:worker_threads'
import type { PGlite, PGliteInterface, Transaction } from '@electric-sql/pglite'
import { sendEvent, serveThreadTasks } from '../../base/worker-thread.ts'
import { startEngine } from './start-engine.ts'
import type { EngineNotice, EngineTask } from './threaded-engine.ts'

const transactions = new Map<number, { client: Transaction; end: (commit: boolean) => void; ended: Promise<void> }>()
const listeners = new Map<number, () => Promise<void>>()

/** Thrown inside a transaction to roll it back. */
const rolledBack = new Error('rolled back')

/** Opens a transaction that stays open until an `end` request; other statements wait meanwhile. */
function begin(engine: PGlite, id: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const ended = engine.transaction(
      (client) =>
        new Promise<void>((commit, roll) => {
          transactions.set(id, { client, end: (good) => (good ? commit() : roll(rolledBack)), ended })
          resolve()
        }),
    )
    ended.catch(reject)
  })
}

async function end(id: number, commit: boolean): Promise<void> {
  const transaction = transactions.get(id)
  transactions.delete(id)
  transaction?.end(commit)
  await transaction?.ended.catch((thrown) => {
    if (thrown !== rolledBack) throw thrown
  })
}

async function handle(engine: PGlite, task: EngineTask): Promise<unknown> {
  switch (task.kind) {
    case 'query': {
      const { text, params, options, transaction } = task
      const client: Pick<PGliteInterface, 'query'> | undefined =
        transaction === undefined ? engine : transactions.get(transaction)?.client
      if (client === undefined) throw new Error('the transaction has ended')
      return client.query(text, [...params], { rowMode: options.rowMode, parsers: asTexts(options.texts) })
    }
    case 'begin':
      return begin(engine, task.transaction)
    case 'end':
      return end(task.transaction, task.commit)
    case 'listen':
      listeners.set(task.listener, await engine.listen(task.channel, (payload) => notify(task.listener, payload)))
      return undefined
    case 'unlisten':
      return listeners.get(task.listener)?.()
    case 'close':
      return engine.close()
  }
}

const asTexts = (types: readonly number[]) => Object.fromEntries(types.map((type) => [type, (text: string) => text]))

const notify = (listener: number, payload: string) => sendEvent({ listener, payload } satisfies EngineNotice)

// The language of triggers; a command may need none.
const started = startEngine((workerData as { dataDir?: string }).dataDir, ['plpgsql'])
serveThreadTasks(async (task: EngineTask) => handle(await started, task), started)
