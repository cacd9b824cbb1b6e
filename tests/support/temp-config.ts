import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A config that is there before the tests of a file begin, and gone after them. */
export function tempConfig(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tooldex-config-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}
