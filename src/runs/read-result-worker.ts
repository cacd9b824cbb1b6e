import { parentPort, workerData } from 'node:worker_threads'
import { TooldexError } from '../base/errors.ts'
import { readResult } from './read-result.ts'
import type { AsideAnswer, AsideResult } from './read-result-aside.ts'

const say = (answer: AsideAnswer): void => parentPort?.postMessage(answer)

try {
  const { content, query } = workerData as AsideResult
  say({ page: await readResult(content, query) })
} catch (thrown) {
  // Any other error crosses to the main thread with its stack, to be logged there.
  if (!(thrown instanceof TooldexError)) throw thrown
  const { code, message, hint, problems } = thrown
  say({ error: { code, message, hint, problems } })
}
