import { chmodSync, chownSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An empty folder for one run, which belongs to the user that it runs as. */
export function makeFolder(user: number | undefined): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tooldex-work-')))
  if (user !== undefined) chownSync(folder, user, user)
  return folder
}

/** Removes it with all that is in it. A run may have closed its own folders to itself, and so to us where we are the same user. */
export async function removeFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true })
  await remove().catch(() => {
    openUp(folder)
    return remove().catch(() => {})
  })
}

function openUp(folder: string): void {
  try {
    chmodSync(folder, 0o700)
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) openUp(join(folder, entry.name))
  } catch {
    // What cannot be opened cannot be removed; the rest can.
  }
}
