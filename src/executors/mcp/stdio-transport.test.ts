import type { ChildProcess } from 'node:child_process'
import { expect, it } from 'vitest'
import type { ProcessScope } from '../process/containment.ts'
import { createProcessGroups } from '../process/process-group.ts'
import { defaultMessageLimits, MessageCheck } from './message-check.ts'
import { StdioTransport, UndeliveredError } from './stdio-transport.ts'

it('shares one wait between concurrent sends, and leaves no listener behind', async () => {
  const children: ChildProcess[] = []
  const server = { program: '/bin/sh', args: ['-c', 'sleep 0.2; cat > /dev/null'], cwd: '/', env: {} }
  const line = new StdioTransport(
    server,
    watched(await createProcessGroups().start(8), children),
    new MessageCheck(defaultMessageLimits, () => {}),
  )
  try {
    await line.start()
    const stdin = children[0]?.stdin
    const listeners = () => ['drain', 'close', 'error'].map((event) => stdin?.listenerCount(event))
    const before = listeners()
    const send = (id: number) =>
      line.send({ jsonrpc: '2.0', method: 'notifications/x', params: { id, text: 'x'.repeat(1_000_000) } })
    for (let round = 0; round < 5; round++) await send(round)
    expect(listeners()).toEqual(before)
    const all = Promise.all(Array.from({ length: 15 }, (_, id) => send(id)))
    // One for all of them, or none where the system has taken everything already.
    const during = stdin?.listenerCount('drain')
    await all
    expect(during).toBeLessThanOrEqual(1)
    expect(listeners()).toEqual(before)
  } finally {
    await line.close()
  }
})

it('rejects a message that a server did not read before it ended', async () => {
  const children: ChildProcess[] = []
  const server = { program: '/bin/sh', args: ['-c', 'exec sleep 600'], cwd: '/', env: {} }
  const scope = watched(await createProcessGroups().start(8), children)
  const line = new StdioTransport(server, scope, new MessageCheck(defaultMessageLimits, () => {}))
  try {
    await line.start()
    // More than fits between the processes: the rest is still waiting when the server ends.
    const text = 'x'.repeat(4_000_000)
    const sent = line.send({ jsonrpc: '2.0', method: 'notifications/x', params: { text } })
    children[0]?.kill('SIGKILL')
    await expect(sent).rejects.toThrow(UndeliveredError)
    await expect(line.send({ jsonrpc: '2.0', method: 'notifications/x' })).rejects.toThrow(UndeliveredError)
  } finally {
    await line.close()
  }
})

/** A scope that records the processes that are started in it. */
function watched(scope: ProcessScope, children: ChildProcess[]): ProcessScope {
  const spawnInside: ProcessScope['spawnInside'] = (start) => {
    const started = scope.spawnInside(start)
    children.push(started as ChildProcess)
    return started
  }
  return Object.assign(Object.create(scope), { spawnInside })
}
