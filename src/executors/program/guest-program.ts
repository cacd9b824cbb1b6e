import { programLimits } from './program-limits.ts'

/**
 * The part of Tooldex inside the isolate, in JavaScript: the functions of programs, on top of three functions of the host. It keeps
 * its own references to built-in functions, and every value crosses the boundary as JSON, in objects without a prototype, whose
 * `toJSON` a program could set.
 */
export const guestProgram = `
(call, print, end) => {
  'use strict'
  const { parse, stringify } = JSON
  const { defineProperty, freeze } = Object
  const { apply } = Reflect
  const { slice } = String.prototype
  const text = String
  const cut = (value, length) => apply(slice, text(value), [0, length])
  const failure = Error

  class ToolError extends failure {
    constructor({ message, code, tool, executionId }, stack) {
      super(message)
      defineProperty(this, 'stack', { value: stack, writable: true, configurable: true })
      this.name = 'ToolError'
      this.code = code
      this.tool = tool
      this.executionId = executionId
    }
  }

  const request = async (kind, name, input, options) => {
    // After the answer, the stack no longer contains the program.
    const { stack } = new failure()
    const { value, error } = parse(
      await call(stringify({ __proto__: null, kind, name, input: input ?? {}, options: options ?? {} })),
    )
    if (error !== undefined) throw new ToolError(error, stack)
    return value
  }

  const tools = new Proxy(freeze({}), {
    get: (_, name) =>
      typeof name !== 'string' || name === 'then' ? undefined : (input, options) => request('call', name, input, options),
  })
  const search = (query, options) =>
    request('search', '', typeof query === 'string' ? { ...options, query } : query)
  const describe = (ids, options) => request('describe', '', { ...options, ids })

  const show = (value) => {
    try {
      if (typeof value === 'string') return value
      if (value instanceof failure) return value.name + ': ' + value.message
      return stringify(value) ?? text(value)
    } catch {
      return '(a value that cannot be shown)'
    }
  }
  const log = (...values) => {
    let line = ''
    for (let at = 0; at < values.length; at++) line += (at === 0 ? '' : ' ') + show(values[at])
    print(stringify(cut(line, ${programLimits.console})))
  }
  const console = freeze({ log, info: log, warn: log, error: log, debug: log })

  for (const [name, value] of [['tools', tools], ['search', search], ['describe', describe], ['console', console], ['ToolError', ToolError]])
    defineProperty(globalThis, name, { value, writable: true, configurable: true })

  const describeError = (thrown) => {
    try {
      const isError = thrown instanceof failure
      const code = isError && thrown instanceof ToolError ? ' (' + thrown.code + ')' : ''
      const message = isError ? thrown.name + ': ' + thrown.message + code : 'threw ' + show(thrown)
      return { __proto__: null, message: cut(message, 4000), stack: isError ? cut(thrown.stack, 4000) : '' }
    } catch {
      return { __proto__: null, message: 'threw a value that cannot be shown', stack: '' }
    }
  }
  const fail = (error) => end(stringify({ __proto__: null, error }))

  return async (program, isInvalid, error) => {
    if (isInvalid) return fail(describeError(error))
    let value
    try {
      value = await program()
    } catch (thrown) {
      return fail(describeError(thrown))
    }
    let json
    try {
      json = stringify(value)
    } catch (thrown) {
      const { message } = describeError(thrown)
      return fail({ __proto__: null, message: 'The returned value is not JSON. ' + message, stack: '' })
    }
    end(stringify({ __proto__: null, has: json !== undefined }), json ?? '')
  }
}`
