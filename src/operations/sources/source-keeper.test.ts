import { expect, it } from 'vitest'
import type { StoredSource } from '../../contract/source.ts'
import { planReading } from './plan-reading.ts'
import { nextPause } from './source-keeper.ts'

it('reads a server that never stops announcing changes less and less often, and others as before', () => {
  let last: ReturnType<typeof nextPause> | undefined
  let readings = 0
  const day = 86_400_000
  while ((last?.endsAt ?? 0) < day) {
    last = nextPause(last, last?.endsAt ?? 0)
    readings++
  }
  expect(readings).toBeLessThan(160)
  expect(nextPause({ ms: 1000, endsAt: 0 }, 5000)).toEqual({ ms: 1000, endsAt: 6000 })
})

it('names a bounded number of changes in an audit entry, however many a server makes', async () => {
  const about = { readAt: '2026-01-01T00:00:00.000Z', protocolVersion: null, serverInfo: null, instructions: null }
  const offering = (count: number) => ({
    ...about,
    tools: Array.from({ length: count }, (_, at) => ({ name: `tool_${at}` })),
    prompts: [],
    resources: [],
    templates: [],
  })
  const source = { manifest: offering(0), seen: null, trust: 'hold', refused: {} } as unknown as StoredSource
  const edit = await planReading(source, offering(150))
  const { held = [] } = (edit?.facts ?? {}) as { held?: readonly string[] }
  expect(edit?.change.waiting).toBe(150)
  expect([held.length, held[0], held.at(-1)]).toEqual([101, 'added tools/tool_0 (compatible)', 'and 50 more'])
})
