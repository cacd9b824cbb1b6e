import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder for tests that run beside each other, where a hook does not know whose end it waits for: gone with the process. */
export function lastingFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tooldex-test-')))
  if (lasting.length === 0)
    process.once('exit', () => {
      for (const each of lasting) rmSync(each, { recursive: true, force: true })
    })
  lasting.push(folder)
  return folder
}

const lasting: string[] = []

/** A folder that is gone when the test is over. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tooldex-test-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A file with this text in a folder of its own, or in the one given. */
export function tempFile(name: string, text: string | Uint8Array, folder = tempFolder(), mode = 0o644): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode })
  return path
}

/** An executable script; its first line must be a #! line. */
export function tempScript(name: string, text: string, folder = tempFolder()): string {
  return tempFile(name, text, folder, 0o755)
}

/** A folder for more than one test; whoever made it removes it. */
export function tempHome(): { readonly path: string; remove(): void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'tooldex-home-')))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
