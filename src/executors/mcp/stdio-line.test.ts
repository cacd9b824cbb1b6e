import { expect, it } from 'vitest'
import { createProcessGroups } from '../process/process-group.ts'
import { defaultMessageLimits, MessageCheck } from './message-check.ts'
import { StdioLine } from './stdio-line.ts'

it('waits together where much is sent at once, and leaves nobody listening', async () => {
  const warnings: Error[] = []
  const listen = (warning: Error) => warnings.push(warning)
  process.on('warning', listen)
  const server = { program: '/bin/sh', args: ['-c', 'cat > /dev/null'], cwd: '/', env: {} }
  const line = new StdioLine(
    server,
    await createProcessGroups().start(8),
    new MessageCheck(defaultMessageLimits, () => {}),
  )
  try {
    await line.start()
    const send = (id: number) =>
      line.send({ jsonrpc: '2.0', method: 'notifications/x', params: { id, text: 'x'.repeat(100_000) } })
    for (let round = 0; round < 15; round++) await send(round)
    await Promise.all(Array.from({ length: 15 }, (_, id) => send(id)))
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', listen)
    await line.close()
  }
})
