import { expect, it } from 'vitest'
import { crashLoop } from '../faults/crash-loop.ts'

it('66 (embedded, process groups): killed at every point in turn, every call ends once and nothing is left', async () => {
  const killedAt = await crashLoop(undefined, ['--containment', 'process-group'])
  for (const point of ['F1', 'F2', 'F3', 'F4', 'F5', 'F6', 'F7'])
    expect(killedAt.filter((at) => at.startsWith(point)).length, point).toBeGreaterThanOrEqual(2)
}, 400_000)
