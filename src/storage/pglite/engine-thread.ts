import { parentPort, workerData } from 'node:worker_threads'
import type { PGlite, PGliteInterface, Transaction } from '@electric-sql/pglite'
import { startEngine } from './start-engine.ts'
import type { EngineError, EngineRequest, EngineResponse } from './threaded-engine.ts'

const respond = (message: EngineResponse): void => parentPort?.postMessage(message)

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

async function handle(engine: PGlite, request: EngineRequest): Promise<unknown> {
  switch (request.kind) {
    case 'query': {
      const { text, params, options, transaction } = request
      const client: Pick<PGliteInterface, 'query'> | undefined =
        transaction === undefined ? engine : transactions.get(transaction)?.client
      if (client === undefined) throw new Error('the transaction has ended')
      return client.query(text, [...params], { rowMode: options.rowMode, parsers: asTexts(options.texts) })
    }
    case 'begin':
      return begin(engine, request.id)
    case 'end':
      return end(request.transaction, request.commit)
    case 'listen':
      listeners.set(
        request.id,
        await engine.listen(request.channel, (payload) => respond({ listener: request.id, payload })),
      )
      return undefined
    case 'unlisten':
      return listeners.get(request.listener)?.()
    case 'close':
      return engine.close()
  }
}

const asTexts = (types: readonly number[]) => Object.fromEntries(types.map((type) => [type, (text: string) => text]))

/** Copies an error with its codes, which `postMessage` would drop. */
function toEngineError(thrown: unknown): EngineError {
  const { message, stack, query: _, ...rest } = thrown as Error & Record<string, unknown>
  const codes = Object.entries(rest).filter(([, value]) => typeof value === 'string' || typeof value === 'number')
  return { message: message ?? String(thrown), stack, codes: Object.fromEntries(codes) }
}

const started = startEngine((workerData as { dataDir?: string }).dataDir)
started.then(
  () => respond({ id: 0, value: undefined }),
  (thrown) => respond({ id: 0, error: toEngineError(thrown) }),
)
parentPort?.on('message', async (request: EngineRequest) => {
  try {
    respond({ id: request.id, value: await handle(await started, request) })
  } catch (thrown) {
    respond({ id: request.id, error: toEngineError(thrown) })
  }
})
