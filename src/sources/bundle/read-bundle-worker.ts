import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { TooldexError } from '../../base/errors.ts'
import {
  type BundleWorkerInput,
  type BundleWorkerMessage,
  locateBundleInline,
  readBundleInline,
} from './read-bundle-in-worker.ts'

// The receiver must not be held by any of the parts for long.
const partTools = 100

const say = (message: BundleWorkerMessage): void => parentPort?.postMessage(message)

async function tellBundle({ text, file }: BundleWorkerInput): Promise<void> {
  const { bundle, problems, wrong } = readBundleInline(text, file)
  const { tools, ...rest } = bundle
  for (let at = 0; at < tools.length; at += partTools) {
    say({ tools: tools.slice(at, at + partTools) })
    // All messages that wait are received in one turn of the event loop, so only one may wait.
    if (parentPort !== null) await once(parentPort, 'message')
  }
  say({ end: { ...rest, problems, wrong } })
}

try {
  const input = workerData as BundleWorkerInput
  if (input.problems === undefined) await tellBundle(input)
  else say({ placed: locateBundleInline(input) })
} catch (thrown) {
  // Any other error crosses to the main thread with its stack, to be logged there.
  if (!(thrown instanceof TooldexError)) throw thrown
  const { code, message, hint, problems } = thrown
  say({ error: { code, message, hint, problems } })
}
