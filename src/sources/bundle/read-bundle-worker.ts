import { parentPort, workerData } from 'node:worker_threads'
import { TooldexError } from '../../base/errors.ts'
import { type AsideInput, type AsideMessage, placeHere, readHere } from './read-bundle-aside.ts'

// Whoever takes the parts must not be kept by any of them for long.
const partTools = 250

const say = (message: AsideMessage): void => parentPort?.postMessage(message)

function tellBundle({ text, file }: AsideInput): void {
  const { bundle, problems, wrong } = readHere(text, file)
  const { tools, ...rest } = bundle
  for (let at = 0; at < tools.length; at += partTools) say({ tools: tools.slice(at, at + partTools) })
  say({ end: { ...rest, problems, wrong } })
}

try {
  const input = workerData as AsideInput
  if (input.problems === undefined) tellBundle(input)
  else say({ placed: placeHere(input) })
} catch (thrown) {
  // Any other error crosses to the main thread with its stack, to be logged there.
  if (!(thrown instanceof TooldexError)) throw thrown
  const { code, message, hint, problems } = thrown
  say({ error: { code, message, hint, problems } })
}
