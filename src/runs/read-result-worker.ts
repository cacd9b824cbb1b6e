import { parentPort, workerData } from 'node:worker_threads'
import { toTooldexError } from '../base/errors.ts'
import { readResult } from './read-result.ts'
import type { AsideAnswer, AsideResult } from './read-result-aside.ts'

const say = (answer: AsideAnswer): void => parentPort?.postMessage(answer)

try {
  const { content, query } = workerData as AsideResult
  say({ page: await readResult(content, query) })
} catch (thrown) {
  const { code, message, hint, problems } = toTooldexError(thrown)
  say({ error: { code, message, hint, problems } })
}
