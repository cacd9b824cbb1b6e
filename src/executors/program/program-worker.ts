import { answerTasks, sendEvent } from '../../base/worker-thread.ts'
import type { ProgramAnswer } from '../../contract/executor.ts'
import { runInIsolate } from './isolate.ts'
import type { FromProgram, ProgramHost, ToProgram } from './program-messages.ts'

const send = (message: FromProgram): void => sendEvent(message)
const waiting = new Map<number, (answer: ProgramAnswer) => void>()
let calls = 0

// The main thread stops a program by ending this thread.
const host: ProgramHost = {
  call: (call) =>
    new Promise((resolve) => {
      const id = ++calls
      waiting.set(id, resolve)
      send({ type: 'call', id, call })
    }),
  print: (line) => send({ type: 'print', line }),
  isStopped: () => false,
}

answerTasks((message: ToProgram) => {
  if (message.type === 'run') {
    waiting.clear()
    return runInIsolate(message.code, host)
  }
  waiting.get(message.id)?.(message.answer)
  waiting.delete(message.id)
  return undefined
})
