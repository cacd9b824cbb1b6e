import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { TooldexError } from '../../base/errors.ts'
import {
  type BundleWorkerInput,
  type BundleWorkerMessage,
  locateBundleInline,
  readBundle,
} from './read-bundle-in-worker.ts'

// No single message may occupy the receiver for long.
const partTools = 100

const say = (message: BundleWorkerMessage): void => parentPort?.postMessage(message)

async function tellBundle({ text, file }: BundleWorkerInput): Promise<void> {
  const { bundle, problems, wrong } = readBundle(text, { file })
  const { tools, ...rest } = bundle
  for (let at = 0; at < tools.length; at += partTools) {
    say({ tools: tools.slice(at, at + partTools) })
    // All pending messages are received in one turn of the event loop, so only one may be pending.
    if (parentPort !== null) await once(parentPort, 'message')
  }
  say({ end: { ...rest, problems, wrong } })
}

try {
  const input = workerData as BundleWorkerInput
  if (input.problems === undefined) await tellBundle(input)
  else say({ placed: locateBundleInline(input) })
} catch (thrown) {
  // Other errors are passed to the main thread with their stack and logged there.
  if (!(thrown instanceof TooldexError)) throw thrown
  const { code, message, hint, problems } = thrown
  say({ error: { code, message, hint, problems } })
}
