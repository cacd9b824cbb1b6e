import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Containment, ProcessScope } from './containment.ts'
import { findMarked } from './find-marked.ts'
import { GroupWatcher } from './group-watcher.ts'
import { signalProcess } from './signal-process.ts'

const markName = 'TOOLDEX_RUN_ID'
// A killed process needs a moment to end, and may have forked during the scan.
const [pollIntervalMs, maxScans] = [10, 100]

/** A process group, and a mark in the environment that identifies processes that left the group. */
export function createProcessGroups(): Containment {
  const watcher = new GroupWatcher()
  return {
    kind: 'process-group',
    async start() {
      watcher.ready()
      return createScope(watcher)
    },
  }
}

function createScope(watcher: GroupWatcher): ProcessScope {
  const mark = `${watcher.mark}-${randomUUID()}`
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
  let group: number | undefined
  return {
    wrap: (program, args) => [program, args],
    env: { [markName]: mark },
    spawnInside: (start) => start(),
    started(pid) {
      group = pid
      watcher.started(pid)
    },
    kill,
    sweep: (pid) => kill(pid, 'SIGKILL'),
    async close() {
      for (let scan = 0; !clean && scan < maxScans && killMarked() > 0; scan++) await sleep(pollIntervalMs)
      if (group !== undefined) watcher.ended(group)
    },
  }
}
