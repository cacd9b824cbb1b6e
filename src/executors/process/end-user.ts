import { readdirSync, statSync } from 'node:fs'
import { procIsOurs } from './proc-is-ours.ts'
import { signalProcess } from './signal-process.ts'

const looks = 100

/** Ends all processes of a user that nobody else is; what is killed may have forked while it was looked for. */
export function endUser(uid: number): void {
  if (!procIsOurs()) return
  for (let look = 0; look < looks; look++) {
    const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && ownerOf(name) === uid)
    if (found.length === 0) return
    for (const pid of found) signalProcess(Number(pid), 'SIGKILL')
  }
}

const ownerOf = (pid: string): number | undefined => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid
