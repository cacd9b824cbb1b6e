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

/** Removes the folder with its content. A run may have removed the permissions of its own folders, also for this process if the user is the same. */
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
    // A folder that cannot be opened stays; the rest is removed.
  }
}
