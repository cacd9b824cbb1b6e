import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder } from '../../base/ensure-folder.ts'
import { TooldexError } from '../../base/errors.ts'

/** Keeps a folder for this process: two that write the same files would destroy them. A lock left by a dead process is taken over. */
export function lockFolder(folder: string): () => void {
  ensureFolder(folder)
  const file = join(folder, 'lock')
  for (let attempt = 0; attempt < 3; attempt++) {
    if (tryLock(file)) return () => release(file)
    const owner = readOwner(file)
    if (owner !== undefined && isAlive(owner)) throw lockedBy(folder, owner)
    removeIfThere(file)
  }
  throw lockedBy(folder, readOwner(file))
}

function tryLock(file: string): boolean {
  try {
    const handle = openSync(file, 'wx', 0o600)
    writeSync(handle, `${process.pid} ${startOf(process.pid)}`)
    closeSync(handle)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

interface Owner {
  readonly pid: number
  readonly start: string
}

function readOwner(file: string): Owner | undefined {
  try {
    const [pid = '', start = ''] = readFileSync(file, 'utf8').split(' ')
    return /^\d+$/.test(pid) ? { pid: Number(pid), start } : undefined
  } catch {
    return undefined
  }
}

/** A process of the same number that started at another time is another one. */
function isAlive({ pid, start }: Owner): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return start === '' || startOf(pid) === '' || startOf(pid) === start
}

/** When a process started, where the system tells. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function release(file: string): void {
  if (readOwner(file)?.pid === process.pid) removeIfThere(file)
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // Someone else was faster.
  }
}

const lockedBy = (folder: string, owner: Owner | undefined): TooldexError =>
  new TooldexError(
    'DATABASE_LOCKED',
    `The database in ${folder} is in use${owner === undefined ? '' : ` by process ${owner.pid}`}.`,
  )
