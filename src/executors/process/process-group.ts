import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Containment } from './containment.ts'
import { findMarked } from './find-marked.ts'
import { signalProcess } from './signal-process.ts'

const markName = 'TOOLDEX_RUN_ID'
// What was killed needs a moment to go, and may have forked while it was looked for.
const [lookEveryMs, looks] = [10, 100]

/** A process group, and a mark in the environment by which what left the group is found. */
export const processGroup: Containment = {
  kind: 'process-group',
  async start() {
    const mark = randomUUID()
    let first: number | undefined
    let clean = false
    const kill = (pid: number, signal: 'SIGTERM' | 'SIGKILL'): void => {
      first = pid
      const grouped = signalProcess(-pid, signal)
      if (signal === 'SIGKILL') clean = killMarked() === 0 && !grouped
    }
    const killMarked = (): number => {
      const found = first === undefined ? [] : findMarked(`${markName}=${mark}`, first)
      for (const pid of found) signalProcess(pid, 'SIGKILL')
      return found.length
    }
    return {
      wrap: (program, args) => [program, args],
      env: { [markName]: mark },
      born: (start) => start(),
      kill,
      sweep: (pid) => kill(pid, 'SIGKILL'),
      async close() {
        if (clean) return
        for (let look = 0; look < looks && killMarked() > 0; look++) await sleep(lookEveryMs)
      },
    }
  },
}
