import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/storage/index.ts'
import { lockFolder } from '../../src/storage/pglite/lock-folder.ts'
import { needs } from '../support/needs.ts'
import { mainFile } from '../support/run-cli.ts'
import { tempFile, tempFolder, tempScript } from '../support/temp-folder.ts'
import { findProcesses, peakDuring, residentBytes, uniqueSeconds } from './processes.ts'
import { RawServer } from './raw-server.ts'
import { containments } from './run-tool.ts'

const megabyte = 1024 * 1024
const config = (command: string) => tempFile('tool.yaml', `command: ${command}\ntools: [{name: t, description: d}]\n`)

/** Every line is a frame, and every frame answers something that was asked, or is a log message of a tool. */
function expectFrames(server: RawServer, ids: readonly number[]): void {
  const frames = server.lines.map((line) => JSON.parse(line) as { jsonrpc: string; id: number; method?: string })
  const seen = frames.filter((frame) => frame.method !== 'notifications/message')
  expect(server.stdout.endsWith('\n')).toBe(true)
  expect(new Set(seen.map((frame) => frame.jsonrpc))).toEqual(new Set(['2.0']))
  expect(seen.map((frame) => frame.id).sort((a, b) => a - b)).toEqual(ids)
}

describe('fault 47: output on the stream of the protocol', () => {
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

  it('fault 47: problems of a config are printed on stderr, not on stdout', async () => {
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
  needsProc('fault 48: a line of 20 MB is answered with an error, in little memory, and the rest goes on', async () => {
    const server = new RawServer([config('echo well')])
    await server.initialize()
    const pid = server.child.pid as number
    const [, peak] = await peakDuring(
      () => (server.child.exitCode === null ? residentOf(pid) : 0),
      async () => {
        server.child.stdin.write('{"method":"tools/call","params":{"name":"')
        for (let sent = 0; sent < 20; sent++) server.child.stdin.write('x'.repeat(megabyte))
        server.child.stdin.write('"},"jsonrpc":"2.0","id":7}\n')
        server.child.stdin.write(`${'y'.repeat(11 * megabyte)}\n`)
        await server.callTool(8, 't')
      },
    )
    expect(peak).toBeLessThan(300 * megabyte)
    server.child.stdin.end()
    expect(await server.ended).toEqual({ code: 0, signal: null })
    const error = { code: -32600, message: expect.stringContaining('larger than 10 MiB') }
    const frames = server.lines.map((line) => JSON.parse(line))
    expect(frames.slice(1, 3)).toEqual([7, null].map((id) => ({ jsonrpc: '2.0', id, error })))
    expect(frames[3]).toMatchObject({ id: 8, result: { structuredContent: { stdout: 'well\n' } } })
    expect(server.stderr).not.toMatch(/^\s+at /m)
  })

  needsProc(
    'fault 48: a long line leaves running calls alone, and one that never ends is answered at the end',
    async () => {
      const goOn = join(tempFolder(), 'go-on')
      const held = tempScript('held', `#!/bin/sh\nuntil [ -e ${goOn} ]; do sleep 0.05; done\n`)
      const server = new RawServer([config(held)])
      await server.initialize()
      const slow = server.callTool(1, 't')
      server.child.stdin.write(`${'x'.repeat(11 * megabyte)}\n`)
      await expect.poll(() => server.lines.length).toBe(2)
      writeFileSync(goOn, '')
      expect(await slow).toMatchObject({ result: { structuredContent: { exitCode: 0 } } })
      server.child.stdin.end(`{"jsonrpc":"2.0","id":9,"method":"${'x'.repeat(11 * megabyte)}`)
      expect(await server.ended).toEqual({ code: 0, signal: null })
      expect(server.lines.map((line) => JSON.parse(line).id)).toEqual([0, null, 1, 9])
    },
  )

  needsProc('fault 48: many short lines that are no frames are passed over', async () => {
    const server = new RawServer([config('echo well')])
    await server.initialize()
    server.child.stdin.write('not a frame\n{"jsonrpc":"1.0"}\n[]\n\n{}\n'.repeat(2000))
    const { result } = (await server.callTool(1, 't')) as { result: { structuredContent: { stdout: string } } }
    expect(result.structuredContent.stdout).toBe('well\n')
    server.child.stdin.end()
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  for (const [name, last] of Object.entries({ '': '', ' in the middle of a line': '{"jsonrpc":"2.0","id":7,"meth' })) {
    it(`fault 48: the end of input${name}: running and waiting calls are answered first`, async () => {
      const server = new RawServer(['--concurrency', '2', config('sleep 0.5')])
      await server.initialize()
      for (let id = 1; id <= 4; id++) server.callTool(id, 't').catch(() => {})
      server.child.stdin.end(last)
      expect(await server.ended).toEqual({ code: 0, signal: null })
      expectFrames(server, [0, 1, 2, 3, 4])
      for (const line of server.lines.slice(1)) expect(line).toContain('"exitCode":0')
      expect(server.stderr).not.toMatch(/^\s+at /m)
    })
  }

  it('fault 48: everything sent before the end of input is answered, in one go too', async () => {
    const server = new RawServer([config('sleep 3')])
    const clientInfo = { name: 'by hand', version: '1' }
    server.send({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
    })
    server.send({ method: 'notifications/initialized' })
    server.send({ id: 1, method: 'tools/list' })
    server.send({ id: 2, method: 'tools/call', params: { name: 'call_tool', arguments: { name: 't' } } })
    server.child.stdin.end()
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expectFrames(server, [0, 1, 2])
    expect(server.lines.at(-1)).toContain('"exitCode":0')
  })

  it('fault 48: a request that waits for the embedded database at the end of input is answered', async () => {
    const home = tempFolder()
    await (await openDatabase({ home })).close()
    const unlock = lockFolder(join(home, 'db'))
    const server = new RawServer([], { TOOLDEX_HOME: home, TOOLDEX_URL: '', DATABASE_URL: '' })
    await server.initialize()
    server.send({ id: 1, method: 'tools/call', params: { name: 'search_tools', arguments: { query: 'x' } } })
    server.child.stdin.end()
    // Longer than a request without a call was waited for, shorter than a process waits for the lock.
    await Promise.race([server.ended, sleep(3000)])
    unlock()
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expectFrames(server, [0, 1])
    expect(server.lines.at(-1)).toContain('"results":[]')
  })

  needsProc('fault 48: after the end of input nothing outlives the deadline of a call', async () => {
    const seconds = uniqueSeconds()
    const text = `command: sleep ${seconds}\ntools: [{name: t, description: d, timeout: 1}]\n`
    const server = new RawServer(['--concurrency', '2', tempFile('slow.yaml', text)])
    await server.initialize()
    for (let id = 1; id <= 12; id++) server.callTool(id, 't').catch(() => {})
    await expect.poll(() => findProcesses(`sleep ${seconds}`).length).toBeGreaterThanOrEqual(2)
    server.child.stdin.end()
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expect(findProcesses(seconds)).toEqual([])
    expect(server.stdout).toContain('EXECUTION_TIMEOUT')
  })

  needsProc('fault 48: a client that died waits for no answers', async () => {
    const seconds = uniqueSeconds()
    const start = `require('child_process').spawn(process.execPath, process.argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
      .stdin.write(require('fs').readFileSync(0))`
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 't', arguments: {} } }
    const client = spawn(process.execPath, ['-e', start, mainFile, 'run', '--classic', config(`sleep ${seconds}`)])
    client.stdin.end(`${JSON.stringify(call)}\n`)
    await expect.poll(() => findProcesses(`sleep ${seconds}`).length).toBeGreaterThan(0)
    client.kill('SIGKILL')
    await expect.poll(() => findProcesses(seconds)).toEqual([])
  })

  const endings: Record<string, (server: RawServer) => void> = {
    SIGTERM: (server) => server.child.kill('SIGTERM'),
    SIGINT: (server) => server.child.kill('SIGINT'),
  }
  for (const [name, end] of Object.entries(endings)) {
    needsProc(`fault 48: ${name} with calls running and waiting ends all of them and the server`, async () => {
      const seconds = uniqueSeconds()
      const server = new RawServer(['--concurrency', '4', config(`sleep ${seconds}`)])
      await server.initialize()
      for (let id = 1; id <= 12; id++) server.callTool(id, 't').catch(() => {})
      await expect.poll(() => findProcesses(`sleep ${seconds}`).length).toBeGreaterThanOrEqual(4)
      end(server)
      const { code, signal } = await server.ended
      expect([code, signal]).toEqual([0, null])
      expect(findProcesses(seconds)).toEqual([])
      for (const line of server.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
      expect(server.stderr).not.toMatch(/^\s+at /m)
    })
  }

  containments[0]?.it('fault 48: kill -9 of the server leaves none of its calls behind', async () => {
    const seconds = uniqueSeconds()
    const server = new RawServer([config(`setsid sleep ${seconds}`)])
    await server.initialize()
    for (let id = 1; id <= 3; id++) server.callTool(id, 't').catch(() => {})
    await expect.poll(() => findProcesses(`sleep ${seconds}`).length).toBeGreaterThanOrEqual(3)
    server.child.kill('SIGKILL')
    await expect.poll(() => findProcesses(`sleep ${seconds}`)).toEqual([])
  })
})

function residentOf(pid: number): number {
  try {
    return residentBytes(pid)
  } catch {
    return 0
  }
}
