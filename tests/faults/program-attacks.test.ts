import { beforeAll, expect, it } from 'vitest'
import { onEachEngine } from '../support/each-engine.ts'

/** Programs that each ended the server, blocked it or answered with megabytes, and the outcome of each. */
const attacks = {
  'floods the server with calls that it does not await': [
    `const input = { message: Array.from({ length: 340000 }, () => ({})) }
     const calls = await Promise.allSettled(Array.from({ length: 24 }, () => tools.coreutils_echo(input)))
     return calls.map(({ reason }) => reason.code)`,
    { status: 'SUCCESS', outputData: Array(24).fill('INPUT_INVALID') },
  ],
  'sends an argument that nests deeply': [
    'let a = 1; for (let i = 0; i < 4000; i++) a = { a }; return tools.coreutils_echo(a)',
    { status: 'FAILED', errorMessage: expect.stringContaining('at most 100 levels') },
  ],
  'returns a value that nests deeply': [
    'let a = []; for (let i = 0; i < 10000; i++) a = [a]; return a',
    { status: 'FAILED', errorCode: 'OUTPUT_LIMIT', errorMessage: expect.stringContaining('1000 levels') },
  ],
  'returns a large value that nests deeply': [
    'let a = []; for (let i = 0; i < 10000; i++) a = [a]; return [a, "x".repeat(100000)]',
    { errorCode: 'OUTPUT_LIMIT', errorMessage: expect.stringContaining('1000 levels') },
  ],
  'leaves its function, and throws a message of 20 MB': [
    '}); throw { message: "m".repeat(2e7), stack: "s" }; (async () => {',
    { status: 'FAILED', errorCode: 'INPUT_INVALID' },
  ],
  'changes what its calls are sent as': [
    'Object.prototype.toJSON = () => undefined; await tools.coreutils_echo({ message: "x" })',
    { status: 'FAILED', errorMessage: expect.stringContaining('Argument validation failed') },
  ],
  'changes what its console lines are cut by': [
    'String.prototype.slice = () => "x".repeat(2e7); console.log("line"); return 1',
    { status: 'SUCCESS', outputData: 1, logs: { stdout: 'line\n' } },
  ],
  'prints more lines than characters are kept': [
    'for (let i = 0; i < 70000; i++) console.log(""); return 1',
    { status: 'SUCCESS', outputData: 1 },
  ],
  'nests functions until the engine needs more memory than its heap': [
    'let f = () => 1; for (let i = 0; i < 200000; i++) f = f.bind(null); return f()',
    { status: 'FAILED', errorCode: 'EXECUTION_FAILED' },
  ],
  'makes the compiler nest': ['('.repeat(50_000), { status: 'FAILED', errorCode: 'EXECUTION_FAILED' }],
  'rejects promises that nothing handles': [
    'tools.coreutils_echo({}); tools.none(); Promise.reject(new Error("x")); return 1',
    { status: 'SUCCESS', outputData: 1 },
  ],
} as const

// With an ordinary heap the flood needs minutes to fill it.
const env = { NODE_OPTIONS: '--max-old-space-size=320' }
const words = ['coreutils']

onEachEngine(
  'a hostile program',
  (server) => {
    let key = ''
    beforeAll(async () => {
      const made = await server().request('POST', '/keys', {
        body: { name: 'agent', scopes: ['call'], codeMode: true },
      })
      key = made.body.secret
    })
    const execute = (code: string) => {
      const body = { input: { code, timeoutMs: 300_000 }, wait: true }
      return server().request('POST', '/tools/tooldex:run_code/execute', { key, body })
    }

    it.each(Object.entries(attacks))('that %s is an ordinary call', async (_, [code, outcome]) => {
      const { status, body, text } = await execute(code)
      expect({ status, body }, text.slice(0, 2000)).toMatchObject({ status: 200, body: outcome })
      expect(text.length).toBeLessThan(code.length + 200_000)
      expect(server().alive()).toBe(true)
    })

    it('that ends before its thread has started takes nothing else with it', async () => {
      const body = { input: { code: 'return 1' }, timeoutMs: 1, wait: true }
      const call = () => server().request('POST', '/tools/tooldex:run_code/execute', { key, body })
      // More than there are idle threads.
      const answers = await Promise.all(Array.from({ length: 6 }, call))
      for (const { status, body, text } of answers) {
        expect(status, text).toBe(200)
        expect(['SUCCESS', 'TIMEOUT']).toContain(body.status)
      }
      expect((await execute('return 2')).body).toMatchObject({ status: 'SUCCESS', outputData: 2 })
    })

    it('of 1 MB is rejected', async () => {
      const { status, body } = await execute(`return "${'x'.repeat(2 ** 20)}"`)
      expect([status, body.code]).toEqual([422, 'INPUT_INVALID'])
    })
  },
  { words, env },
)
