import { it } from 'vitest'

/** `it` where the condition holds; elsewhere a skipped test that says why in its name. */
export function needs(condition: boolean, reason: string) {
  return (name: string, work: () => void | Promise<void>, timeout?: number): void => {
    it.skipIf(!condition)(condition ? name : `${name} [skipped: ${reason}]`, work, timeout)
  }
}
