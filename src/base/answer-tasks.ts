import { parentPort } from 'node:worker_threads'
import { TooldexError } from './errors.ts'
import type { TaskAnswer } from './worker-pool.ts'

/** Makes this thread process the tasks of a WorkerPool, one after the other. */
export function answerTasks<Task>(handle: (task: Task) => unknown): void {
  const send = (message: TaskAnswer | 'ready'): void => parentPort?.postMessage(message)
  parentPort?.on('message', async (task: Task) => {
    try {
      send({ value: await handle(task) })
    } catch (thrown) {
      // Any other error crosses to the main thread with its stack, to be logged there.
      if (!(thrown instanceof TooldexError)) throw thrown
      const { code, message, hint, problems } = thrown
      send({ error: { code, message, hint, problems } })
    }
  })
  send('ready')
}
