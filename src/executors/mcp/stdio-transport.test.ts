import type { ChildProcess } from 'node:child_process'
import { expect, it } from 'vitest'
import type { ProcessScope } from '../process/containment.ts'
import { createProcessGroups } from '../process/process-group.ts'
import { defaultMessageLimits, MessageCheck } from './message-check.ts'
import { StdioTransport } from './stdio-transport.ts'

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

/** A scope that records the processes that are started in it. */
function watched(scope: ProcessScope, children: ChildProcess[]): ProcessScope {
  const spawnInside: ProcessScope['spawnInside'] = (start) => {
    const started = scope.spawnInside(start)
    children.push(started as ChildProcess)
    return started
  }
  return Object.assign(Object.create(scope), { spawnInside })
}
