import type { Containment, ProcessScope } from './containment.ts'
import { descendantsOf } from './descendants-of.ts'
import { findProgram } from './find-program.ts'
import { NamespaceInit } from './namespace-init.ts'
import { PidsCgroup } from './pids-cgroup.ts'
import { signalProcess } from './signal-process.ts'

/** The maximum number of idle namespaces; each costs two sleeping processes. */
const maxIdle = 8

/**
 * A PID namespace for each call, so that no process can escape. An empty namespace is reused.
 *
 *   tooldex ─┬─ unshare ── cat        the namespace's first process
 *            └─ nsenter ── program    nsenter ends as the program ended
 */
export function createPidNamespaces(): Containment {
  const idle: NamespaceInit[] = []
  const nsenter = findProgram('nsenter', process.env, '/')
  PidsCgroup.sweep()
  return {
    kind: 'pid-namespace',
    async start(processes) {
      const init = takeAlive(idle) ?? (await NamespaceInit.start())
      const cgroup = PidsCgroup.create(processes)
      return {
        wrap: (program, args) => [nsenter, [`--pid=${init.file}`, '--', program, ...args]],
        env: {},
        spawnInside: (start) => (cgroup === undefined ? start() : cgroup.spawnInside(start)),
        kill: (pid, signal) => killIn(init, pid, signal),
        sweep() {
          if (init.hasOrphans()) init.end()
        },
        async close() {
          if (init.alive && idle.length < maxIdle) idle.push(init)
          else {
            init.end()
            await init.ended
          }
          // The call does not wait for the removal of an empty group.
          if (cgroup !== undefined) setImmediate(() => cgroup.remove())
        },
      }
    },
  }
}

function takeAlive(idle: NamespaceInit[]): NamespaceInit | undefined {
  for (let init = idle.pop(); init !== undefined; init = idle.pop()) if (init.alive) return init
  return undefined
}

function killIn(init: NamespaceInit, pid: number, signal: Parameters<ProcessScope['kill']>[1]): void {
  // SIGTERM is not sent to nsenter, which would end before the program has handled the signal.
  for (const target of signal === 'SIGKILL' ? [-pid] : descendantsOf(pid)) signalProcess(target, signal)
  if (signal === 'SIGKILL') init.end()
}
