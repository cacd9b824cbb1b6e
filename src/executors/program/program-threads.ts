import { WorkerThread } from '../../base/worker-thread.ts'
import type { FromProgram, ProgramEnd, ProgramHost, ToProgram } from './program-messages.ts'

const module = new URL('./program-worker.js', import.meta.url)
/** A thread that is not used for this long ends. */
const idleMs = 30_000
const maxIdle = 2
const memoryMb = 128

/** A thread that runs one program at a time, each in a fresh isolate. */
class ProgramThread {
  /** Programs have no use for the environment and the flags of the process. */
  readonly #thread = new WorkerThread(module, { memoryMb, isBare: true, onEvent: (event) => this.#receive(event) })
  #host: ProgramHost | undefined

  async run(code: string, host: ProgramHost): Promise<ProgramEnd> {
    this.#host = host
    try {
      return (await this.#send({ type: 'run', code })) as ProgramEnd
    } catch {
      return { how: 'crashed' }
    } finally {
      this.#host = undefined
    }
  }

  end(): void {
    this.#thread.terminate().catch(() => {})
  }

  #send = (message: ToProgram): Promise<unknown> => this.#thread.run(message)

  #receive(event: unknown): void {
    const message = event as FromProgram
    const host = this.#host
    if (message.type === 'print') host?.print(message.text)
    else
      void host
        ?.call(message.call)
        .then((answer) => this.#send({ type: 'answer', id: message.id, answer }))
        // A thread that has ended needs no answer.
        .catch(() => {})
  }
}

/** Threads that wait for the next program, with the timers of their ends. */
const idle = new Map<ProgramThread, NodeJS.Timeout>()

function takeThread(): ProgramThread {
  const [entry] = idle
  if (entry === undefined) return new ProgramThread()
  const [thread, timer] = entry
  clearTimeout(timer)
  idle.delete(thread)
  return thread
}

/** Keeps a thread for the next program; one whose program was stopped, or failed in the engine, ends. */
function giveBack(thread: ProgramThread, { how }: ProgramEnd): void {
  const end = () => {
    idle.delete(thread)
    thread.end()
  }
  if (how === 'stopped' || how === 'crashed' || idle.size >= maxIdle) end()
  else idle.set(thread, setTimeout(end, idleMs).unref())
}

/** Runs a program in a thread; an aborted signal ends the thread at once, whatever the program does. */
export async function runProgramInThread(code: string, host: ProgramHost, signal: AbortSignal): Promise<ProgramEnd> {
  const thread = takeThread()
  let stop = () => {}
  const stopped = new Promise<ProgramEnd>((resolve) => {
    stop = () => resolve({ how: 'stopped' })
  })
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const end = await Promise.race([stopped, thread.run(code, host)])
  signal.removeEventListener('abort', stop)
  giveBack(thread, end)
  return end
}
