import { Server } from 'node:net'
import { Hono } from 'hono'
import { afterEach, expect, it, vi } from 'vitest'
import { listenForRest } from './listen.ts'

afterEach(() => vi.restoreAllMocks())

const inUse = Object.assign(new Error('in use'), { code: 'EADDRINUSE' })

/** Makes the next ports appear to be in use, and records the ports that are requested. */
function withPortsInUse(count: number): number[] {
  const requested: number[] = []
  const original = Server.prototype.listen as (this: Server, ...args: unknown[]) => Server
  vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
    requested.push(args[0] as number)
    if (requested.length > count) return original.call(this, 0, ...args.slice(1))
    queueMicrotask(() => this.emit('error', inUse))
    return this
  } as never)
  return requested
}

async function listenOn(port: number): Promise<readonly string[]> {
  const lines: string[] = []
  const { server } = await listenForRest(new Hono() as never, {
    host: '127.0.0.1',
    port,
    print: (line) => lines.push(line),
  })
  await new Promise((resolve) => server.close(resolve))
  return lines
}

it('tries the ports after the requested one, and reports the one in use', async () => {
  const requested = withPortsInUse(2)
  expect(await listenOn(7331)).toEqual([expect.stringMatching(/^port 7331 is in use; listening on \d+ instead$/)])
  expect(requested).toEqual([7331, 7332, 7333])
})

it('requests port 0 again, never port 1, if no port was free', async () => {
  const requested = withPortsInUse(2)
  expect(await listenOn(0)).toEqual([])
  expect(requested).toEqual([0, 0, 0])
})

it('stops at the last port', async () => {
  const requested = withPortsInUse(30)
  await expect(listenOn(65_534)).rejects.toMatchObject({ code: 'USAGE' })
  expect(requested).toEqual([65_534, 65_535])
})
