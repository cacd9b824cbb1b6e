import swc from '@swc/wasm-typescript'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSDeferredPromise,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core'
import { checkJsonSize, isObject } from '../../base/json-values.ts'
import type { ProgramAnswer, ProgramCall } from '../../contract/executor.ts'
import { guestProgram } from './guest-program.ts'
import { programLimits } from './program-limits.ts'
import type { ProgramEnd, ProgramError, ProgramHost } from './program-messages.ts'

// Between two batches the thread receives messages.
const jobsAtOnce = 1000
const fileName = 'program'
const pageBytes = 64 * 1024
const firstBytes = 16 * 1024 * 1024
/** A text of the console as JSON, where each character may be escaped. */
const maxLine = 6 * programLimits.console + 2
const maxMessage = 4000

/** A call of the program that waits for its turn; its text stays in the memory of the isolate until then. */
interface WaitingCall {
  readonly text: QuickJSHandle
  readonly promise: QuickJSDeferredPromise
}

/** Runs a program in an isolate of its own: a fresh WebAssembly instance, which is dropped as a whole at the end. */
export async function runProgramInIsolate(code: string, host: ProgramHost): Promise<ProgramEnd> {
  try {
    const stripped = stripTypes(code)
    if ('error' in stripped) return { how: 'invalid', error: stripped.error }
    const quickjs = await newQuickJSWASMModuleFromVariant(await boundedVariant())
    const runtime = quickjs.newRuntime({
      memoryLimitBytes: programLimits.memoryBytes,
      maxStackSizeBytes: programLimits.stackBytes,
      interruptHandler: () => host.isStopped(),
    })
    return await new Isolate(runtime, code, host).run(stripped.source)
  } catch {
    // A deadline before the program could start interrupts its start; otherwise it is a failure of the engine, such as an exhausted stack of the thread itself.
    return { how: host.isStopped() ? 'stopped' : 'crashed' }
  }
}

/** The engine with a memory that cannot grow past its limit, which the engine itself does not count exactly. */
async function boundedVariant(): Promise<QuickJSSyncVariant> {
  const module: unknown = await import('@jitl/quickjs-ng-wasmfile-release-sync')
  const { WebAssembly } = globalThis as unknown as { WebAssembly: WasmMemories }
  const [initial, maximum] = [firstBytes / pageBytes, programLimits.instanceBytes / pageBytes]
  const wasmMemory = new WebAssembly.Memory({ initial, maximum })
  return newVariant((module as { readonly default: QuickJSSyncVariant }).default, { wasmMemory })
}

type Memory = NonNullable<Exclude<Parameters<typeof newVariant>[1]['wasmMemory'], () => unknown>>

/** The used part of WebAssembly; its types otherwise require those of the browser. */
interface WasmMemories {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => Memory
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
  readonly #waiting: WaitingCall[] = []
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
      context.newFunction('call', (text) => this.#call(text)),
      context.newFunction('print', (line) => this.#print(line)),
      context.newFunction('end', (about, json) => this.#returned(about, json)),
    ]
    const launch = context.unwrapResult(context.callFunction(start, context.undefined, ...host))
    const program = context.evalCode(source, fileName)
    // A text that is not a program ends with its error, which a program may have thrown as well.
    const words = program.error === undefined ? [program.value] : [context.undefined, context.true, program.error]
    const launched = context.callFunction(launch, context.undefined, ...words)
    if (launched.error !== undefined && !this.#host.isStopped()) throw new Error('the program could not be started')
    if (program.error === undefined || this.#result?.how !== 'threw') this.#pump()
    else this.#finish({ how: 'invalid', error: this.#result.error })
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
      this.#crash(error)
    }
  }

  #crash = (error: unknown): void => {
    this.#hasEnded = true
    this.#fail(error)
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

  #returned(about: QuickJSHandle, json: QuickJSHandle | undefined): void {
    const value: unknown = JSON.parse(this.#textOf(about, maxLine))
    const { error, has } = isObject(value) ? value : { error: {} }
    if (error !== undefined) this.#result = { how: 'threw', error: this.#locate(isObject(error) ? error : {}) }
    else if (has !== true || json === undefined) this.#result = { how: 'returned', json: undefined }
    else if (this.#lengthOf(json) > programLimits.result) this.#result = { how: 'too-large' }
    else this.#result = { how: 'returned', json: this.#context.getString(json) }
  }

  /** Lines beyond the limit of the console do not leave the isolate. */
  #print(json: QuickJSHandle): void {
    if (this.#printed > programLimits.console) return
    const line = String(JSON.parse(this.#textOf(json, maxLine)))
    this.#printed += line.length + 1
    this.#host.print(`${line}\n`)
  }

  /** Takes a call of the program; its promise settles with a later job. */
  #call(text: QuickJSHandle): QuickJSHandle {
    const promise = this.#context.newPromise()
    const refusal = this.#refusalOf(text)
    if (refusal !== undefined) this.#settle(promise, { error: refusal })
    else {
      this.#waiting.push({ text: text.dup(), promise })
      this.#startCalls()
    }
    return promise.handle
  }

  /** Starts the calls whose turn it is: only these have left the isolate, whatever the program does. */
  #startCalls(): void {
    while (this.#open < programLimits.concurrentCalls) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      const { text, promise } = next
      const read = readProgramCall(this.#context.getString(text))
      text.dispose()
      if ('code' in read) this.#settle(promise, { error: read })
      else {
        this.#open += 1
        void this.#host
          .call(read)
          .then((answer) => {
            this.#open -= 1
            this.#settle(promise, answer)
            if (!this.#hasEnded) this.#startCalls()
            this.#pump()
          })
          .catch(this.#crash)
      }
    }
  }

  #settle(promise: QuickJSDeferredPromise, answer: ProgramAnswer): void {
    if (this.#hasEnded) return
    const text = 'json' in answer ? `{"value":${answer.json}}` : JSON.stringify(answer)
    promise.resolve(this.#context.newString(text))
  }

  #refusalOf(text: QuickJSHandle) {
    this.#calls += 1
    const { calls, arguments: maxLength } = programLimits
    if (this.#calls > calls) return { code: 'CALL_LIMIT', message: `A program may make at most ${calls} calls.` }
    if (this.#lengthOf(text) <= maxLength) return undefined
    return {
      code: 'INPUT_INVALID',
      message: `The arguments of a call may have at most ${maxLength} characters of JSON.`,
    }
  }

  #textOf(text: QuickJSHandle, maxLength: number): string {
    if (this.#lengthOf(text) > maxLength) throw new Error('the text is too long')
    return this.#context.getString(text)
  }

  #lengthOf = (text: QuickJSHandle): number => this.#context.getNumber(this.#context.getProp(text, 'length'))

  /** The position of an error: the first one of its stack inside the program. */
  #locate(error: Readonly<Record<string, unknown>>): ProgramError {
    const [message = '', stack = ''] = [error.message, error.stack].map((text) => String(text).slice(0, maxMessage))
    const [, line, column] = new RegExp(`\\b${fileName}:(\\d+):(\\d+)`).exec(stack) ?? []
    return line === undefined ? { message } : { message, ...inProgram(this.#code, Number(line), Number(column)) }
  }
}

/** A call of a program, or its error where it has more values or levels than the body of a request may have. */
function readProgramCall(text: string): ProgramCall | { readonly code: string; readonly message: string } {
  const call: unknown = JSON.parse(text)
  if (!isObject(call)) throw new Error('not a call')
  const { argumentValues, argumentLevels } = programLimits
  // The call itself is a level.
  const fit = checkJsonSize(call, { values: argumentValues, levels: argumentLevels + 1 })
  if (fit === 'fits') return call as unknown as ProgramCall
  const limit = fit === 'many' ? `${argumentValues} values` : `${argumentLevels} levels`
  return { code: 'INPUT_INVALID', message: `The arguments of a call may have at most ${limit}.` }
}

/** Each program is the body of a function, so that it can return and await. */
const before = '(async () => {\n'
const after = '\n})'
const linesBefore = 1

/** A program as JavaScript at the same positions, or its syntax error. */
type StrippedProgram = { readonly source: string } | { readonly error: ProgramError }

/** Removes the types of a program; throws where the compiler itself fails. */
function stripTypes(code: string): StrippedProgram {
  if (code.includes('\0')) return { error: { message: 'it contains a NUL character' } }
  try {
    const { code: source } = swc.transformSync(`${before}${code}${after}`, { mode: 'strip-only', sourceMap: false })
    return { source }
  } catch (thrown) {
    const { message, startLine, startColumn } = (thrown ?? {}) as Readonly<Record<string, unknown>>
    if (typeof message !== 'string' || typeof startLine !== 'number') throw thrown
    return { error: { message, ...inProgram(code, startLine, Number(startColumn) + 1) } }
  }
}

/** The position in the program of a position in its wrapped text. */
function inProgram(code: string, line: number, column: number): { line: number; column: number } {
  const lines = code.split('\n')
  const own = line - linesBefore
  return own <= lines.length
    ? { line: Math.max(own, 1), column }
    : { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}
