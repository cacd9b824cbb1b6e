import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from 'quickjs-emscripten-core'
import { isObject } from '../../base/json-values.ts'
import type { ProgramAnswer, ProgramCall } from '../../contract/executor.ts'
import { guestProgram } from './guest-program.ts'
import { programLimits } from './program-limits.ts'
import type { ProgramEnd, ProgramError, ProgramHost } from './program-messages.ts'
import { inProgram, stripTypes } from './strip-types.ts'

// Between two batches the thread receives messages.
const jobsAtOnce = 1000
const fileName = 'program'

/** Runs a program in an isolate of its own: a fresh WebAssembly instance, which is dropped as a whole at the end. */
export async function runInIsolate(code: string, host: ProgramHost): Promise<ProgramEnd> {
  try {
    const stripped = stripTypes(code)
    if ('error' in stripped) return { how: 'invalid', error: stripped.error }
    const quickjs = await newQuickJSWASMModuleFromVariant(import('@jitl/quickjs-ng-wasmfile-release-sync'))
    const runtime = quickjs.newRuntime({
      memoryLimitBytes: programLimits.memoryBytes,
      maxStackSizeBytes: programLimits.stackBytes,
      interruptHandler: () => host.isStopped(),
    })
    return await new Isolate(runtime, code, host).run(stripped.source)
  } catch {
    // A failure of the engine, such as an exhausted stack of the thread itself.
    return { how: 'crashed' }
  }
}

class Isolate {
  readonly #runtime: QuickJSRuntime
  readonly #context: QuickJSContext
  readonly #code: string
  readonly #host: ProgramHost
  readonly #ended: Promise<ProgramEnd>
  #end: (end: ProgramEnd) => void = () => {}
  #fail: (error: unknown) => void = () => {}
  #hasEnded = false
  /** The end of the program, which its open calls delay. */
  #result: ProgramEnd | undefined
  #calls = 0
  #open = 0
  #printed = 0

  constructor(runtime: QuickJSRuntime, code: string, host: ProgramHost) {
    this.#runtime = runtime
    this.#context = runtime.newContext()
    this.#code = code
    this.#host = host
    this.#ended = new Promise((resolve, reject) => {
      this.#end = resolve
      this.#fail = reject
    })
  }

  run(source: string): Promise<ProgramEnd> {
    const context = this.#context
    const start = context.unwrapResult(context.evalCode(guestProgram, 'tooldex'))
    const host = [
      context.newFunction('call', (text) => this.#call(context.getString(text))),
      context.newFunction('print', (line) => this.#print(context.getString(line))),
      context.newFunction('end', (about, json) => this.#returned(context.getString(about), json)),
    ]
    const launch = context.unwrapResult(context.callFunction(start, context.undefined, ...host))
    const program = context.evalCode(source, fileName)
    if (program.error !== undefined) return Promise.resolve({ how: 'invalid', error: this.#readError(program.error) })
    context.callFunction(launch, context.undefined, program.value)
    this.#pump()
    return this.#ended
  }

  /** Continues the program until it waits for the host or ends. */
  #pump(): void {
    if (this.#hasEnded) return
    try {
      const next = this.#step()
      if (next === 'more') setImmediate(() => this.#pump())
      else if (next !== 'wait') this.#finish(next)
    } catch (error) {
      this.#hasEnded = true
      this.#fail(error)
    }
  }

  /** Runs some jobs of the program; a returned value is the end once all calls have ended, an error at once. */
  #step(): ProgramEnd | 'more' | 'wait' {
    if (this.#host.isStopped()) return { how: 'stopped' }
    const { error } = this.#runtime.executePendingJobs(jobsAtOnce)
    if (error !== undefined || this.#host.isStopped()) return { how: 'stopped' }
    const isIdle = this.#open === 0
    if (this.#result !== undefined && (isIdle || this.#result.how !== 'returned')) return this.#result
    if (this.#runtime.hasPendingJob()) return 'more'
    return isIdle ? { how: 'stuck' } : 'wait'
  }

  #finish(end: ProgramEnd): void {
    this.#hasEnded = true
    this.#end(end)
  }

  #returned(about: string, json: QuickJSHandle | undefined): void {
    const { error, has } = JSON.parse(about) as { error?: { message: string; stack: string }; has?: boolean }
    if (error !== undefined) this.#result = { how: 'threw', error: this.#locate(error) }
    else if (has !== true || json === undefined) this.#result = { how: 'returned', json: undefined }
    else if (this.#lengthOf(json) > programLimits.result) this.#result = { how: 'too-large' }
    else this.#result = { how: 'returned', json: this.#context.getString(json) }
  }

  /** Lines beyond the limit of the console do not leave the isolate. */
  #print(json: string): void {
    if (this.#printed > programLimits.console) return
    const line = String(JSON.parse(json))
    this.#printed += line.length + 1
    this.#host.print(line)
  }

  /** Starts a call of the program; its promise settles with a later job. */
  #call(text: string): QuickJSHandle {
    const context = this.#context
    const promise = context.newPromise()
    const settle = (answer: ProgramAnswer) => {
      if (this.#hasEnded) return
      promise.resolve(context.newString('json' in answer ? `{"value":${answer.json}}` : JSON.stringify(answer)))
    }
    const refusal = this.#refusalOf(text)
    if (refusal !== undefined) {
      settle({ error: refusal })
      return promise.handle
    }
    this.#open += 1
    void this.#host.call(JSON.parse(text) as ProgramCall).then((answer) => {
      this.#open -= 1
      settle(answer)
      this.#pump()
    }, this.#fail)
    return promise.handle
  }

  #refusalOf(text: string) {
    this.#calls += 1
    const { calls, arguments: maxLength } = programLimits
    if (this.#calls > calls) return { code: 'CALL_LIMIT', message: `A program may make at most ${calls} calls.` }
    if (text.length <= maxLength) return undefined
    return {
      code: 'INPUT_INVALID',
      message: `The arguments of a call may have at most ${maxLength} characters of JSON.`,
    }
  }

  #lengthOf = (text: QuickJSHandle): number => this.#context.getNumber(this.#context.getProp(text, 'length'))

  #readError(error: QuickJSHandle): ProgramError {
    const value: unknown = this.#context.dump(error)
    const { message, stack } = isObject(value) ? value : { message: 'unknown error', stack: '' }
    return this.#locate({ message: String(message), stack: String(stack) })
  }

  /** The position of an error: the first one of its stack inside the program. */
  #locate({ message, stack }: { readonly message: string; readonly stack: string }): ProgramError {
    const [, line, column] = new RegExp(`\\b${fileName}:(\\d+):(\\d+)`).exec(stack) ?? []
    return line === undefined ? { message } : { message, ...inProgram(this.#code, Number(line), Number(column)) }
  }
}
