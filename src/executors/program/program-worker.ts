import { sendEvent, serveThreadTasks } from '../../base/worker-thread.ts'
import type { ProgramAnswer } from '../../contract/executor.ts'
import { runProgramInIsolate } from './isolate.ts'
import type { FromProgram, ProgramHost, ToProgram } from './program-messages.ts'

const send = (message: FromProgram): void => sendEvent(message)
const waiting = new Map<number, (answer: ProgramAnswer) => void>()
let calls = 0

// Short lines are sent together: each message costs the main thread more than its text.
const sentTogether = 4096
const sentAfterMs = 100
const printed = { text: '', sentAt: Number.NEGATIVE_INFINITY }

function print(text: string): void {
  if (printed.text === '') setImmediate(sendPrinted)
  printed.text += text
  if (printed.text.length >= sentTogether || performance.now() - printed.sentAt >= sentAfterMs) sendPrinted()
}

function sendPrinted(): void {
  if (printed.text === '') return
  send({ type: 'print', text: printed.text })
  printed.text = ''
  printed.sentAt = performance.now()
}

// The main thread stops a program by ending this thread.
const host: ProgramHost = {
  call: (call) =>
    new Promise((resolve) => {
      const id = ++calls
      sendPrinted()
      waiting.set(id, resolve)
      send({ type: 'call', id, call })
    }),
  print,
  isStopped: () => false,
}

serveThreadTasks((message: ToProgram) => {
  if (message.type === 'run') {
    waiting.clear()
    return runProgramInIsolate(message.code, host).finally(sendPrinted)
  }
  waiting.get(message.id)?.(message.answer)
  waiting.delete(message.id)
  return undefined
})
