import { parentPort, workerData } from 'node:worker_threads'
import { toTooldexError } from '../../base/errors.ts'
import { readBundle } from './read-bundle.ts'
import type { AsideInput, AsideMessage } from './read-bundle-aside.ts'

// Whoever takes the parts must not be kept by any of them for long.
const partTools = 250

const say = (message: AsideMessage): void => parentPort?.postMessage(message)

try {
  const { text, file } = workerData as AsideInput
  const { bundle, warnings } = readBundle(text, { file })
  const { tools, ...rest } = bundle
  for (let at = 0; at < tools.length; at += partTools) say({ tools: tools.slice(at, at + partTools) })
  say({ end: { ...rest, warnings } })
} catch (thrown) {
  const { code, message, hint, problems } = toTooldexError(thrown)
  say({ error: { code, message, hint, problems } })
}
