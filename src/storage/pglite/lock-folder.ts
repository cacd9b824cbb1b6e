import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError } from '../../base/errors.ts'
import { ensurePrivateFolder } from '../../base/home-files.ts'

/** Locks a folder for this process: two writers would destroy the files. The lock of a dead process is taken over. */
export function lockFolder(folder: string): () => void {
  ensurePrivateFolder(folder)
  const file = join(folder, 'lock')
  for (let attempt = 0; attempt < 3; attempt++) {
    if (tryLock(file)) return () => release(file)
    const owner = readOwner(file)
    if (owner !== undefined && isAlive(owner)) throw lockedBy(folder, owner)
    removeLeftOver(file)
  }
  throw lockedBy(folder, readOwner(file))
}

// Most commands end sooner; a running server is detected and called instead.
const patienceMs = 10_000
const retryMs = 100

/** Locks a folder, waiting up to 10 s for another process. */
export async function lockFolderSoon(folder: string): Promise<() => void> {
  const end = performance.now() + patienceMs
  for (;;) {
    try {
      return lockFolder(folder)
    } catch (thrown) {
      const isLocked = thrown instanceof TooldexError && thrown.code === 'DATABASE_LOCKED'
      if (!isLocked || performance.now() > end) throw thrown
    }
    await sleep(retryMs)
  }
}

/** Creates the lock file with its content atomically, so that no process sees a lock without an owner. */
function tryLock(file: string): boolean {
  const own = `${file}.${process.pid}`
  try {
    writeFileSync(own, `${process.pid} ${startOf(process.pid)}`, { mode: 0o600 })
    linkSync(own, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(own, { force: true })
  }
}

/** Serialized, because a second process would remove the lock that the first has just created. */
function removeLeftOver(file: string): void {
  const turn = `${file}.turn`
  if (!tryLock(turn)) {
    const other = readOwner(turn)
    if (other === undefined || !isAlive(other)) rmSync(turn, { force: true })
    return
  }
  const owner = readOwner(file)
  if (owner === undefined || !isAlive(owner)) rmSync(file, { force: true })
  rmSync(turn, { force: true })
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

/** A process with the same pid but another start time is another process; a zombie is dead. */
function isAlive({ pid, start }: Owner): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  if (stateOf(pid)?.[0] === 'Z') return false
  return start === '' || startOf(pid) === '' || startOf(pid) === start
}

/** The start time of a process, where /proc has it. */
const startOf = (pid: number): string => stateOf(pid)?.[19] ?? ''

/** The fields of /proc/PID/stat from the state on. */
function stateOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function release(file: string): void {
  if (readOwner(file)?.pid === process.pid) rmSync(file, { force: true })
}

const lockedBy = (folder: string, owner: Owner | undefined): TooldexError =>
  new TooldexError(
    'DATABASE_LOCKED',
    `The database in ${folder} is in use${owner === undefined ? '' : ` by process ${owner.pid}`}.`,
  )
