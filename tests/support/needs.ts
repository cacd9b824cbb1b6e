import { it } from 'vitest'
import { Sandbox } from '../../src/executors/sandbox/sandbox.ts'
import type { Level } from '../../src/executors/sandbox/sandbox-config.ts'

/** `it` where the condition holds; elsewhere a skipped test that says why in its name. */
export function needs(condition: boolean, reason: string) {
  return (name: string, work: () => void | Promise<void>, timeout?: number): void => {
    it.skipIf(!condition)(condition ? name : `${name} [skipped: ${reason}]`, work, timeout)
  }
}

const levels = new Sandbox({ env: process.env, allowLimited: true }).levels

/** `it` where this machine has an isolation level, as `needs`. */
export async function needsLevel(level: Level): Promise<ReturnType<typeof needs>> {
  if (level === 'limited') return needs(true, '')
  const reason = level === 'isolated' ? 'needs bubblewrap and user namespaces' : 'needs Landlock of Linux 6.12'
  return needs('made' in (await levels[level].run()), reason)
}
