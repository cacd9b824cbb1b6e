import { describe, expect, it } from 'vitest'
import type { LogMessage, MessageLevel } from '../src/contract/executor.ts'
import { startExecutor, startHttp, stdioServer, toolOf } from './upstreams/start-executor.ts'

const ways = [
  ['stdio', 'both'],
  ['stdio', 'older'],
  ['http', 'both'],
  ['http', 'older'],
] as const

describe.each(ways)('log messages of a server over %s, %s revisions', (way, revisions) => {
  const start = async () => {
    const up =
      way === 'stdio'
        ? stdioServer('official-server.mjs', ['stdio', revisions])
        : { url: (await startHttp(revisions)).url, allowPrivate: true }
    const { executor } = startExecutor({ up })
    const call = async (tool: string, input: object, { caller = 'key:a', level }: Options = {}) => {
      const messages: LogMessage[] = []
      const job = { tool: toolOf('up', tool), input: { ...input }, caller, workspace: 'default', timeoutMs: 150_000 }
      const onOutput = (_: string, _text: string, message?: LogMessage) => void (message && messages.push(message))
      const callerInput = { capabilities: {}, logLevel: level }
      const outcome = await executor.prepare(job).run({ onOutput, callerInput })
      expect(outcome.status).toBe('SUCCESS')
      return { messages, stderr: outcome.result.stderr }
    }
    return { call, executor }
  }

  it('reach the call that caused them, from its level on, and its record', async () => {
    const { call } = await start()
    const lines = ['debug details', 'info read', 'error broken']
    const plain = await call('log', { lines })
    expect(plain.messages.map(({ level }) => level)).toEqual(['info', 'error'])
    expect(plain.messages[0]).toEqual({ level: 'info', logger: 'up/db', data: { line: 'info read' } })
    expect(plain.stderr).toBe('[info] up/db: {"line":"info read"}\n[error] up/db: {"line":"error broken"}\n')
    const verbose = await call('log', { lines }, { level: 'debug' })
    expect(verbose.messages.map(({ level }) => level)).toEqual(['debug', 'info', 'error'])
    const again = await call('log', { lines })
    expect(again.messages.map(({ level }) => level)).toEqual(['info', 'error'])
  })

  it('are bounded', async () => {
    const { call } = await start()
    const { messages, stderr } = await call('log', { lines: ['info x'], times: 1200 })
    expect(messages.length).toBe(1000)
    expect(stderr.length).toBeLessThan(64 * 1024)
    expect(stderr).toMatch(/further log messages of up were left out\n$/)
  })

  it('of calls at the same time reach no other call', async () => {
    const { call } = await start()
    const hold = { hold: 500 }
    const [one, other] = await Promise.all([
      call('log', { lines: ['info one'], ...hold }, { caller: 'key:a' }),
      call('log', { lines: ['info other'], ...hold }, { caller: 'key:b' }),
    ])
    const texts = (messages: readonly LogMessage[]) => messages.map(({ data }) => (data as { line: string }).line)
    // Messages over stdio name no request, so that none is passed on while two are running.
    expect(texts(one.messages)).toEqual(way === 'http' ? ['info one'] : [])
    expect(texts(other.messages)).toEqual(way === 'http' ? ['info other'] : [])
  })

  it('that name no request reach the only call of the only caller', async () => {
    const { call } = await start()
    const input = { lines: ['heard'], hold: 300 }
    // A server of the current revision over HTTP has no stream besides those of requests.
    const expected = way === 'http' && revisions === 'both' ? [] : ['heard']
    const shout = async (caller: string) => (await call('shout', input, { caller })).messages.map(({ data }) => data)
    // Over HTTP, the stream for such messages may open a moment later.
    await expect.poll(() => shout('key:a'), { timeout: 60_000 }).toEqual(expected)
    expect(await shout('key:b')).toEqual([])
    expect(await shout('key:a')).toEqual([])
  })
})

interface Options {
  readonly caller?: string
  readonly level?: MessageLevel
}
