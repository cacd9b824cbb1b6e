import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { needs } from '../support/needs.ts'
import { tempFile, tempFolder, tempScript } from '../support/temp-folder.ts'
import { findProcesses, peakDuring, residentBytes, uniqueSeconds } from './processes.ts'
import { RawServer } from './raw-server.ts'
import { containments } from './run-tool.ts'

const megabyte = 1024 * 1024
const config = (command: string) => tempFile('tool.yaml', `command: ${command}\ntools: [{name: t, description: d}]\n`)

/** Every line is a frame, and every frame answers something that was asked. */
function expectFrames(server: RawServer, ids: readonly number[]): void {
  const seen = server.lines.map((line) => JSON.parse(line) as { jsonrpc: string; id: number })
  expect(server.stdout.endsWith('\n')).toBe(true)
  expect(new Set(seen.map((frame) => frame.jsonrpc))).toEqual(new Set(['2.0']))
  expect(seen.map((frame) => frame.id).sort((a, b) => a - b)).toEqual(ids)
}

describe('fault 47: what is printed where the protocol is spoken', () => {
  it('fault 47: a tool that prints frames of its own and binary is an answer like any other', async () => {
    const script = `#!/usr/bin/env python3
import sys
frames = b'{"jsonrpc":"2.0","id":1,"result":{"forged":true}}\\n{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\\n'
for stream in (sys.stdout.buffer, sys.stderr.buffer):
    stream.write(frames + bytes(range(256)) + b'\\x00\\n\\r\\n\\xe2\\x80\\xa8' + frames)
`
    const server = new RawServer([config(tempScript('forge', script))])
    await server.initialize()
    for (const id of [1, 2, 3]) {
      const { result } = (await server.callTool(id, 't')) as {
        result: { structuredContent: { stdout: string; exitCode: number } }
      }
      expect(result.structuredContent.exitCode).toBe(0)
      expect(result.structuredContent.stdout).toContain('"forged":true')
    }
    server.child.stdin.end()
    await server.ended
    expectFrames(server, [0, 1, 2, 3])
    expect(server.stderr).toBe('')
  })

  it('fault 47: console.log, warnings and writes within the server go to stderr', async () => {
    const go = join(tempFolder(), 'go')
    // Loaded before the server and started when it serves: code of others that prints as it pleases.
    const noise = `
      import { existsSync } from 'node:fs'
      const timer = setInterval(() => {
        if (!existsSync(${JSON.stringify(go)})) return
        console.log('noise by console.log')
        console.info('noise by %s', 'console.info')
        process.stdout.write('noise by write\\n')
        process.stdout.write(Buffer.from('noise by buffer\\n'), () => {})
        process.stdout.write('{"jsonrpc":"2.0","id":99,"result":{}}\\n', 'utf8')
        process.emitWarning('noise by warning')
        new Buffer(1)
      }, 5)
      timer.unref()
    `
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noise)}` }
    const server = new RawServer([config('sleep 0.1')], env)
    await server.initialize()
    writeFileSync(go, '')
    const ids = [1, 2, 3, 4, 5]
    for (const id of ids) await server.callTool(id, 't')
    await Promise.all(ids.map((id) => server.callTool(id + 10, 't')))
    server.child.stdin.end()
    await server.ended
    expectFrames(server, [0, ...ids, ...ids.map((id) => id + 10)])
    for (const how of ['console.log', 'console.info', 'write', 'buffer', 'warning'])
      expect(server.stderr).toContain(`noise by ${how}`)
    expect(server.stderr).toContain('"id":99')
    expect(server.stderr).toContain('DeprecationWarning')
  })

  it('fault 47: what is wrong with a config is said on stderr, not on stdout', async () => {
    const bad = tempFile('bad.yaml', 'command: x\ntools: []\nunknown_key: 1\n')
    const server = new RawServer(['--log-level', 'DEBUG', bad, '/no/such/file.yaml'])
    await server.initialize()
    server.child.stdin.end()
    await server.ended
    expectFrames(server, [0])
    expect(server.stderr).toContain('unknown_key')
    expect(server.stderr).toContain('/no/such/file.yaml')
  })
})

const needsProc = needs(process.platform === 'linux', 'memory and processes are looked for in /proc')

describe('fault 48: input without end, and the end of input', () => {
  for (const [name, last] of [
    ['without a newline', ''],
    ['with a newline after it', '\n'],
  ] as const) {
    needsProc(`fault 48: a line of 20 MB ${name} ends the connection, in little memory`, async () => {
      const server = new RawServer([config('echo well')])
      await server.initialize()
      const pid = server.child.pid as number
      const [{ code, signal }, peak] = await peakDuring(
        () => (server.child.exitCode === null ? residentOf(pid) : 0),
        () => {
          for (let sent = 0; sent < 20; sent++) server.child.stdin.write('x'.repeat(megabyte))
          server.child.stdin.write(last)
          return Promise.race([server.ended, sleep(10_000, { code: 'still running', signal: null })])
        },
      )
      expect([code, signal]).toEqual([0, null])
      expect(peak).toBeLessThan(300 * megabyte)
      expect(server.stderr).toMatch(/protocol: .*maximum size/)
      expect(server.stderr).not.toMatch(/^\s+at /m)
      expectFrames(server, [0])
    })
  }

  needsProc('fault 48: a long line ends the calls that were running, too', async () => {
    const seconds = uniqueSeconds()
    const server = new RawServer([config(`sleep ${seconds}`)])
    await server.initialize()
    server.callTool(1, 't').catch(() => {})
    await expect.poll(() => findProcesses(`sleep ${seconds}`).length, { timeout: 10_000 }).toBeGreaterThan(0)
    server.child.stdin.write('x'.repeat(20 * megabyte))
    await expect.poll(() => server.child.exitCode, { timeout: 5000 }).toBe(0)
    expect(findProcesses(seconds)).toEqual([])
  })

  needsProc('fault 48: many short lines that are no frames are passed over', async () => {
    const server = new RawServer([config('echo well')])
    await server.initialize()
    server.child.stdin.write('not a frame\n{"jsonrpc":"1.0"}\n[]\n\n{}\n'.repeat(2000))
    const { result } = (await server.callTool(1, 't')) as { result: { structuredContent: { stdout: string } } }
    expect(result.structuredContent.stdout).toBe('well\n')
    server.child.stdin.end()
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  const endings: Record<string, (server: RawServer) => void> = {
    'the end of input': (server) => server.child.stdin.end(),
    'the end of input in the middle of a line': (server) => server.child.stdin.end('{"jsonrpc":"2.0","id":7,"meth'),
    SIGTERM: (server) => server.child.kill('SIGTERM'),
    SIGINT: (server) => server.child.kill('SIGINT'),
  }
  for (const [name, end] of Object.entries(endings)) {
    needsProc(
      `fault 48: ${name} with calls running and waiting ends all of them and the server within 3 s`,
      async () => {
        const seconds = uniqueSeconds()
        const server = new RawServer(['--concurrency', '4', config(`sleep ${seconds}`)])
        await server.initialize()
        for (let id = 1; id <= 12; id++) server.callTool(id, 't').catch(() => {})
        await expect.poll(() => findProcesses(`sleep ${seconds}`).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(4)
        const started = performance.now()
        end(server)
        const { code, signal } = await Promise.race([
          server.ended,
          sleep(10_000, { code: 'still running', signal: null }),
        ])
        expect([code, signal]).toEqual([0, null])
        expect(performance.now() - started).toBeLessThan(3000)
        expect(findProcesses(seconds)).toEqual([])
        for (const line of server.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
        expect(server.stderr).not.toMatch(/^\s+at /m)
      },
    )
  }

  containments[0]?.it('fault 48: kill -9 of the server leaves none of its calls behind', async () => {
    const seconds = uniqueSeconds()
    const server = new RawServer([config(`setsid sleep ${seconds}`)])
    await server.initialize()
    for (let id = 1; id <= 3; id++) server.callTool(id, 't').catch(() => {})
    await expect.poll(() => findProcesses(`sleep ${seconds}`).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(3)
    server.child.kill('SIGKILL')
    await expect.poll(() => findProcesses(`sleep ${seconds}`), { timeout: 2000 }).toEqual([])
  })
})

function residentOf(pid: number): number {
  try {
    return residentBytes(pid)
  } catch {
    return 0
  }
}
