import { describe } from 'vitest'
import { containments } from '../faults/run-tool.ts'
import { tryZombies } from '../soak/zombies.ts'

describe('65f: a thousand calls', () => {
  for (const { kind, containment, it } of containments)
    it(`65f (${kind}): a thousand calls that leave ten zombies each, and none is left`, async () => {
      await tryZombies(containment, 1000)
    }, 600_000)
})
