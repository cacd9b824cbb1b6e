import type { Stores } from '../../src/contract/stores.ts'
import { newTool } from '../../src/storage/stores.suite.ts'

export const caller = { workspace: 'default', actor: 'tester' } as const

/** Several writers at once that note what they were told. */
export interface Traffic {
  readonly acknowledged: string[]
  readonly failures: unknown[]
  /** When something was last acknowledged. */
  lastAt(): number
  stop(): Promise<void>
}

let made = 0

/** Creates tools until it is stopped; a failure is noted and the next one tried. */
export function startTraffic(stores: Stores, writers = 4): Traffic {
  const [acknowledged, failures]: [string[], unknown[]] = [[], []]
  let [running, last] = [true, 0]
  const work = async () => {
    while (running) {
      const content = newTool({ name: `traffic_${++made}` })
      try {
        await stores.tools.create(caller, content)
        acknowledged.push(content.name)
        last = performance.now()
      } catch (error) {
        failures.push(error)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }
  const all = Promise.all(Array.from({ length: writers }, work))
  return {
    acknowledged,
    failures,
    lastAt: () => last,
    async stop() {
      running = false
      await all
    },
  }
}

/** Waits until something holds; the timeout of the test is the only bound. */
export async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** How long something took, and how it ended. */
export async function timed(work: Promise<unknown>): Promise<{ ms: number; code: string }> {
  const start = performance.now()
  const code = await work.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  )
  return { ms: performance.now() - start, code }
}
