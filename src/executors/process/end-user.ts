import { readdirSync, statSync } from 'node:fs'
import { procIsOurs } from './proc-is-ours.ts'
import { signalProcess } from './signal-process.ts'

const maxScans = 100

/** Kills all processes of a user that belongs to one run; repeated, because a process may fork during the scan. */
export function endUser(uid: number): void {
  if (!procIsOurs()) return
  for (let scan = 0; scan < maxScans; scan++) {
    const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && ownerOf(name) === uid)
    if (found.length === 0) return
    for (const pid of found) signalProcess(Number(pid), 'SIGKILL')
  }
}

const ownerOf = (pid: string): number | undefined => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid
