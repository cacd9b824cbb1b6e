import { describe, expect, it } from 'vitest'
import type { ProgramAnswer, ProgramCall, RunControls } from '../../contract/executor.ts'
import { createProgramExecutor } from './program-executor.ts'
import { programLimits } from './program-limits.ts'

const executor = createProgramExecutor()
const tool = {
  name: 'tooldex:run_code',
  id: null,
  version: null,
  executorType: 'program' as const,
  executorConfig: {},
  scriptContent: null,
  inputSchema: null,
  outputSchema: {},
  annotations: {},
  constraints: [],
}

const json = (value: unknown): ProgramAnswer => ({ json: JSON.stringify(value) })
const echo = async ({ name, input }: ProgramCall) => json({ name, input })

function run(code: string, controls: RunControls = {}, timeoutMs: number = programLimits.maxMs) {
  return executor.prepare({ tool, input: { code }, timeoutMs }).run({ answerCall: echo, ...controls })
}

const failed = async (code: string) => {
  const { status, errorCode, errorMessage } = await run(code)
  return [status, errorCode, errorMessage]
}

describe('a program', () => {
  it('returns a value, with its console lines', async () => {
    const { status, output, result } = await run(
      'const n: number = 20; console.log("n is", n, { a: [1] }); return { twice: (n as number) * 2 }',
    )
    expect([status, output, result.stdout]).toEqual(['SUCCESS', { twice: 40 }, 'n is 20 {"a":[1]}\n'])
  })

  it('calls tools by name, one after the other and at once', async () => {
    const { output } = await run(`
      const first = await tools.git_log({ max_count: 3 })
      const rest = await Promise.all(['a', 'b'].map((path) => tools['files:read']({ path })))
      return [first, ...rest, await search('x', { limit: 1 }), await describe('y')]`)
    expect(output).toEqual([
      { name: 'git_log', input: { max_count: 3 } },
      { name: 'files:read', input: { path: 'a' } },
      { name: 'files:read', input: { path: 'b' } },
      { name: '', input: { limit: 1, query: 'x' } },
      { name: '', input: { ids: 'y' } },
    ])
  })

  it('catches the errors of its calls, with code, tool and execution', async () => {
    const error = { code: 'POLICY_REFUSED', message: 'No.', tool: 'rm', executionId: 'e1' }
    const answerCall = async () => ({ error })
    const caught = await run(
      'try { await tools.rm() } catch (e) { return [e instanceof ToolError, e.name, { ...e, message: e.message }] }',
      { answerCall },
    )
    expect(caught.output).toEqual([true, 'ToolError', { ...error, name: 'ToolError' }])
    const uncaught = await run('\n  await tools.rm()', { answerCall })
    expect(uncaught.errorMessage).toMatch(/^The program failed at 2:\d+: ToolError: No\. \(POLICY_REFUSED\)$/)
  })

  it('finishes the calls that it does not await, and cancels them where it throws', async () => {
    const seen: string[] = []
    const answerCall: RunControls['answerCall'] = async ({ name }, { signal }) => {
      if (name === 'quick') await new Promise((resolve) => setImmediate(resolve))
      else await new Promise((resolve) => signal.addEventListener('abort', resolve))
      seen.push(`${name} ${signal.aborted}`)
      return json(null)
    }
    expect(await run('tools.quick(); return 1', { answerCall })).toMatchObject({ status: 'SUCCESS', output: 1 })
    expect(await run('tools.slow(); throw new Error("no")', { answerCall })).toMatchObject({ status: 'FAILED' })
    expect(seen).toEqual(['quick false', 'slow true'])
  })

  it('returns values of every JSON type, exact texts included', async () => {
    const odd = 'NUL \0, surrogate \ud800, emoji \u{1F600}, separator \u2028'
    const answerCall = async ({ input }: ProgramCall) => json(input)
    const { output } = await run(`return await tools.same({ odd: ${JSON.stringify(odd)} })`, { answerCall })
    expect(output).toEqual({ odd })
    for (const value of [null, 0, -1.5, '', 'x', true, [], {}])
      expect((await run(`return ${JSON.stringify(value)}`)).output).toEqual(value)
    expect((await run('1')).output).toBeNull()
  })
})

describe('an error of a program', () => {
  it('has the line and the column of the text', async () => {
    expect(await failed('const a = 1\nconst b = ;')).toEqual([
      'FAILED',
      'INPUT_INVALID',
      expect.stringMatching(/^The program is not valid at 2:11: /),
    ])
    expect(await failed('const a = 1\nnull.x')).toEqual([
      'FAILED',
      'EXECUTION_FAILED',
      expect.stringMatching(/^The program failed at 2:\d+: TypeError: /),
    ])
    expect(await failed('if (true) {')).toMatchObject({ 1: 'INPUT_INVALID' })
    expect(await failed('enum A { x }')).toMatchObject({ 1: 'INPUT_INVALID' })
    expect(await failed('import fs from "node:fs"')).toMatchObject({ 1: 'INPUT_INVALID' })
    expect(await failed('return "\0"')).toMatchObject({ 1: 'INPUT_INVALID' })
  })

  it('is shown for any thrown value', async () => {
    for (const value of [
      'undefined',
      'null',
      '1',
      'Symbol("s")',
      '{ a: 1 }',
      '1n',
      'new Proxy({}, { get() { throw 1 } })',
    ])
      expect(await failed(`throw ${value}`), value).toMatchObject({ 0: 'FAILED', 1: 'EXECUTION_FAILED' })
    const hostile = 'const e = new Error("x"); Object.defineProperty(e, "message", { get() { throw e } }); throw e'
    expect((await failed(hostile))[2]).toBe('The program failed: threw a value that cannot be shown')
    expect((await failed('return 1n'))[2]).toContain('The returned value is not JSON')
    expect((await failed('const a = []; a.push(a); return a'))[2]).toContain('The returned value is not JSON')
  })
})

describe('a hostile program', () => {
  it('is stopped at its deadline in an endless loop of any kind', async () => {
    const loops = ['for (;;);', 'for (;;) await null', 'const f = () => Promise.resolve().then(f); await f()']
    for (const code of [...loops, 'for (;;) { try { for (;;); } catch {} }'])
      expect(await run(code, {}, 100), code).toMatchObject({ status: 'TIMEOUT', errorCode: 'EXECUTION_TIMEOUT' })
  })

  it('is cancelled while it waits for a call', async () => {
    const cancel = new AbortController()
    const answerCall: RunControls['answerCall'] = (_call, { signal }) => {
      cancel.abort()
      return Promise.resolve({ error: { code: 'EXECUTION_CANCELLED', message: String(signal.aborted) } })
    }
    expect(await run('await tools.a(); for (;;);', { answerCall, signal: cancel.signal })).toMatchObject({
      status: 'CANCELLED',
      errorCode: 'EXECUTION_CANCELLED',
    })
  })

  it('ends where it awaits a promise that nothing settles', async () => {
    expect(await failed('await new Promise(() => {})')).toEqual([
      'FAILED',
      'EXECUTION_FAILED',
      expect.stringContaining('nothing settles'),
    ])
  })

  it('gets no more than its memory', async () => {
    expect(await failed('return new Uint8Array(1e9).length')).toMatchObject({ 1: 'EXECUTION_FAILED' })
    expect(await failed('return "x".repeat(2 ** 29).length')).toMatchObject({ 1: 'EXECUTION_FAILED' })
    const held = 'const all = []; for (;;) all.push(new Uint8Array(1.5e7))'
    expect((await failed(held))[2]).toMatch(/memory/)
  })

  it('gets no more than its stack', async () => {
    expect((await failed('const f = () => f() + 1; f()'))[2]).toMatch(/stack/)
    for (const code of ['eval("(".repeat(100000))', 'JSON.parse("[".repeat(100000))', `${'('.repeat(50_000)}`])
      expect((await failed(code))[0]).toBe('FAILED')
  })

  it('makes no more calls than allowed, and few at once', async () => {
    let [open, most, all] = [0, 0, 0]
    const answerCall = async () => {
      all += 1
      most = Math.max(most, ++open)
      await new Promise((resolve) => setImmediate(resolve))
      open -= 1
      return json(1)
    }
    const code = `
      let [good, bad] = [0, 0]
      await Promise.all(Array.from({ length: 5000 }, () => tools.a().then(() => good++, (e) => { if (e.code === 'CALL_LIMIT') bad++ })))
      return { good, bad }`
    const { output } = await run(code, { answerCall })
    expect(output).toEqual({ good: programLimits.calls, bad: 5000 - programLimits.calls })
    expect([most, all]).toEqual([programLimits.concurrentCalls, programLimits.calls])
  })

  it('prints and returns no more than allowed', async () => {
    const { result, status } = await run('for (let i = 0; i < 5000; i++) console.log("line ".repeat(10))')
    expect([status, result.truncated]).toEqual(['SUCCESS', true])
    expect(result.stdout.length).toBeLessThan(programLimits.console + 100)
    expect(result.stdout).toMatch(/\[The console is full: \d+ characters\.\]\n$/)
    const large = await run(`return "x".repeat(${programLimits.result})`)
    expect([large.status, large.errorCode]).toEqual(['FAILED', 'OUTPUT_LIMIT'])
    const huge = await run(`return await tools.a({ x: "x".repeat(${programLimits.arguments}) })`)
    expect(huge.errorMessage).toMatch(/INPUT_INVALID/)
    const answer = async () => ({ json: `"${'x'.repeat(programLimits.answer)}"` })
    expect((await run('await tools.a()', { answerCall: answer })).errorMessage).toMatch(/OUTPUT_LIMIT/)
  })

  it('finds nothing of the host, and leaves nothing behind', async () => {
    const names = 'process require module std os fetch WebAssembly Deno Bun setTimeout XMLHttpRequest scriptArgs print'
    const escapes = [
      'globalThis[name]',
      'Function("name", "return globalThis[name]")(name)',
      '(async () => {}).constructor("name", "return globalThis[name]")(name)',
      'tools.a.constructor("name", "return this[name]")(name)',
      'console.log.constructor.constructor("name", "return globalThis[name]")(name)',
    ]
    const code = `return Promise.all("${names}".split(" ").flatMap((name) => [${escapes}]).map(async (each) => typeof (await each)))`
    const { output } = await run(code)
    expect(new Set(output as string[])).toEqual(new Set(['undefined']))
    expect(await failed('return (await import("node:fs")).readFileSync')).toMatchObject({ 0: 'FAILED' })
    await run(
      'Object.prototype.polluted = 1; Array.prototype.map = () => 7; JSON.stringify = () => "{}"; tools = 1; return 1',
    )
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    expect((await run('return [typeof {}.polluted, [1].map((x) => x + 1), typeof tools.x]')).output).toEqual([
      'undefined',
      [2],
      'function',
    ])
  })

  it('cannot change its own calls by changing built-in functions', async () => {
    const code = `
      Promise.prototype.then = () => { throw 1 }; JSON.parse = () => ({ value: 'fake' }); String = () => 'fake'
      const input = JSON.stringify === undefined ? {} : { __proto__: { admin: true }, a: 1 }
      return await tools.a(input)`
    expect((await run(code)).output).toEqual({ name: 'a', input: { a: 1 } })
  })
})

it('plans a program without running it', async () => {
  const { deadlineMs, plan } = executor.prepare({ tool, input: { code: 'return 1', timeoutMs: 1000 } })
  expect(deadlineMs).toBe(1000)
  expect(await plan()).toMatchObject({ kind: 'program', timeoutMs: 1000, program: { bytes: 8 } })
  const longest = executor.prepare({ tool, input: { code: '' }, timeoutMs: 1e9 })
  expect(longest.deadlineMs).toBe(programLimits.maxMs)
})
