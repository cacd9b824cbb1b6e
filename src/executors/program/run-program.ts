import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { toTooldexError } from '../../base/errors.ts'
import { fromJsonText } from '../../base/json-text.ts'
import { Semaphore } from '../../base/semaphore.ts'
import { type ProgramAnswer, type ProgramCall, programEnded, type RunControls } from '../../contract/executor.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { programLimits } from './program-limits.ts'
import type { ProgramEnd, ProgramError, ProgramHost } from './program-messages.ts'

/** A program to run. */
interface Program {
  readonly code: string
  readonly timeoutMs: number
  /** Whether it runs in a thread; in tests from source it runs in this one. */
  readonly inThread: boolean
}

// The calls of a stopped program get this long to end before its own end is written.
const settleMs = 5000

/** Runs a program until it ends, its deadline is over, or it is cancelled; its open calls end with it. */
export async function runProgram({ code, timeoutMs, inThread }: Program, controls: RunControls): Promise<RunOutcome> {
  const started = performance.now()
  const deadline = AbortSignal.timeout(timeoutMs)
  const stopping = controls.signal === undefined ? deadline : AbortSignal.any([deadline, controls.signal])
  const calls = new OpenCalls(controls, stopping)
  const console = new ConsoleLines(controls.onOutput)
  const host: ProgramHost = {
    call: (call) => calls.answer(call),
    print: (text) => console.add(text),
    // In this thread no timer fires while the program computes.
    isStopped: () => stopping.aborted || performance.now() - started > timeoutMs,
  }
  const end = await (inThread ? runThere(code, host, stopping) : runHere(code, host, stopping))
  await calls.close()
  const durationMs = Math.round((performance.now() - started) * 10) / 10
  const result = {
    stdout: console.text,
    stderr: '',
    exitCode: null,
    signal: null,
    durationMs,
    truncated: console.isCut,
  }
  return { result, isolation: 'none', ...outcomeOf(end, { timeoutMs, isCancelled: controls.signal?.aborted === true }) }
}

async function runThere(code: string, host: ProgramHost, signal: AbortSignal): Promise<ProgramEnd> {
  const { runProgramInThread } = await import('./program-threads.ts')
  return runProgramInThread(code, host, signal)
}

async function runHere(code: string, host: ProgramHost, signal: AbortSignal): Promise<ProgramEnd> {
  const { runProgramInIsolate } = await import('./isolate.ts')
  const stopped = new Promise<ProgramEnd>((resolve) =>
    signal.addEventListener('abort', () => resolve({ how: 'stopped' }), { once: true }),
  )
  return Promise.race([runProgramInIsolate(code, host), stopped])
}

/** The calls of one program that have not ended. */
class OpenCalls {
  readonly #controls: RunControls
  readonly #slots = new Semaphore({ slots: programLimits.concurrentCalls, waiting: programLimits.calls })
  readonly #ending = new AbortController()
  readonly #signal: AbortSignal
  readonly #open = new Set<Promise<ProgramAnswer>>()

  constructor(controls: RunControls, stopping: AbortSignal) {
    this.#controls = controls
    this.#signal = AbortSignal.any([stopping, this.#ending.signal])
    setMaxListeners(0, this.#signal)
  }

  async answer(call: ProgramCall): Promise<ProgramAnswer> {
    const answer = this.#slots.run(() => this.#send(call), { signal: this.#signal }).catch(toFailure)
    this.#open.add(answer)
    try {
      return await answer
    } finally {
      this.#open.delete(answer)
    }
  }

  async #send(call: ProgramCall): Promise<ProgramAnswer> {
    const { answerCall, traceparent } = this.#controls
    if (answerCall === undefined) return { error: { code: 'UNAVAILABLE', message: 'Programs cannot call tools here.' } }
    const answer = await answerCall(call, { signal: this.#signal, traceparent })
    return 'json' in answer && answer.json.length > programLimits.answer ? tooLarge(answer.json.length) : answer
  }

  /** Cancels the open calls and waits for their ends, which are recorded before that of the program. */
  async close(): Promise<void> {
    this.#ending.abort(programEnded)
    const late = new AbortController()
    await Promise.race([
      Promise.allSettled(this.#open),
      sleep(settleMs, undefined, { signal: late.signal, ref: false }).catch(() => {}),
    ])
    late.abort()
  }
}

const toFailure = (thrown: unknown): ProgramAnswer => {
  const { code, message } = toTooldexError(thrown)
  return { error: { code, message } }
}

const tooLarge = (length: number): ProgramAnswer => ({
  error: {
    code: 'OUTPUT_LIMIT',
    message: `The output has ${length} characters of JSON; a program may receive at most ${programLimits.answer}.`,
  },
})

/** The console of a program: all lines up to a limit. */
class ConsoleLines {
  readonly #onOutput: RunControls['onOutput']
  text = ''
  isCut = false

  constructor(onOutput: RunControls['onOutput']) {
    this.#onOutput = onOutput
  }

  add(text: string): void {
    if (this.isCut) return
    const room = programLimits.console - this.text.length
    this.isCut = text.length > room
    const added = this.isCut
      ? `${text.slice(0, room)}\n[The console is full: ${programLimits.console} characters.]\n`
      : text
    this.text += added
    this.#onOutput?.('stdout', added)
  }
}

type Classified = Pick<RunOutcome, 'status' | 'errorCode' | 'errorMessage' | 'output'>

function outcomeOf(
  end: ProgramEnd,
  { timeoutMs, isCancelled }: { timeoutMs: number; isCancelled: boolean },
): Classified {
  if (end.how === 'returned') {
    // Always an output, so that the console is not taken for it.
    return { status: 'SUCCESS', errorCode: null, errorMessage: null, output: fromJsonText(end.json ?? 'null') }
  }
  if (end.how === 'stopped' && isCancelled)
    return { status: 'CANCELLED', errorCode: 'EXECUTION_CANCELLED', errorMessage: 'The program was cancelled.' }
  if (end.how === 'stopped') {
    const errorMessage = `The program was stopped after ${timeoutMs / 1000} s.`
    return { status: 'TIMEOUT', errorCode: 'EXECUTION_TIMEOUT', errorMessage }
  }
  const [errorCode, errorMessage] = failureOf(end)
  return { status: 'FAILED', errorCode, errorMessage }
}

function failureOf(end: Exclude<ProgramEnd, { how: 'returned' | 'stopped' }>): [code: string, message: string] {
  if (end.how === 'threw') return ['EXECUTION_FAILED', located('The program failed', end.error)]
  if (end.how === 'invalid') return ['INPUT_INVALID', located('The program is not valid', end.error)]
  if (end.how === 'too-large')
    return ['OUTPUT_LIMIT', `The program returned more than ${programLimits.result} characters of JSON. Return less.`]
  if (end.how === 'stuck')
    return ['EXECUTION_FAILED', 'The program awaits a promise that nothing settles. Timers do not exist here.']
  const memory = `${programLimits.memoryBytes / 1024 / 1024} MB`
  return ['EXECUTION_FAILED', `The program exhausted its memory (${memory}) or its stack.`]
}

const located = (what: string, { message, line, column }: ProgramError): string =>
  `${what}${line === undefined ? '' : ` at ${line}:${column}`}: ${message}`
