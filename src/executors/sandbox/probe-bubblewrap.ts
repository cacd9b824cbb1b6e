import type { Environment } from '../../base/expand-variables.ts'
import { findProgram } from '../process/find-program.ts'
import { defaultLimits } from '../process/limits.ts'
import { PidsCgroup } from '../process/pids-cgroup.ts'
import { procIsOurs } from '../process/proc-is-ours.ts'
import { type ProcessEnd, runProcess } from '../process/run-process.ts'
import { sandboxPath, workFolder } from './bubblewrap-arguments.ts'
import { type Bubblewrap, isolatedSandbox } from './isolated-sandbox.ts'
import { defaultSandboxLimits } from './sandbox-limits.ts'
import { seccompProgram } from './seccomp-program.ts'
import type { Probed } from './self-test.ts'

const deadlineMs = 10_000

// Each line is one thing that must hold; what is printed is what does not.
const trial = `
[ -e /etc/passwd ] && echo 'files of the machine are visible'
[ -e /root ] && echo 'homes are visible'
(: > /usr/tooldex-trial) 2>/dev/null && echo 'the system is writable'
(: > /tooldex-trial) 2>/dev/null && echo 'the root is writable'
(: > ${workFolder}/trial) 2>/dev/null || echo 'the work folder is not writable'
grep -q '^NoNewPrivs:.*1$' /proc/self/status || echo 'privileges can be gained'
grep -q '^Seccomp:.*2$' /proc/self/status || echo 'system calls are not filtered'
grep -q '^CapEff:.*[1-9a-f]' /proc/self/status && echo 'capabilities are left'
[ "$(grep -c : /proc/net/dev)" -gt 1 ] && echo 'there is a network'
[ "$$" -lt 20 ] || echo 'processes of the machine are visible'
echo tried
`

/** Really starts a sandbox and looks whether it holds; as root in the strongest way that works. */
export async function probeBubblewrap(env: Environment): Promise<Probed<Bubblewrap>> {
  if (process.platform !== 'linux') return { reason: 'bubblewrap is for Linux only' }
  if (!procIsOurs()) return { reason: 'there is no /proc of this namespace' }
  const filter = seccompProgram()
  if (filter === undefined) return { reason: `there is no filter of system calls for ${process.arch}` }
  let programs: { bwrap: string; prlimit: string }
  try {
    programs = { bwrap: findProgram('bwrap', env, '/'), prlimit: findProgram('prlimit', env, '/') }
  } catch (error) {
    return { reason: (error as Error).message }
  }
  let reason = ''
  for (const user of usersToTry()) {
    const made = { ...programs, filter, user }
    const found = await tryOne(made)
    if (found === undefined) return { made }
    reason ||= found
  }
  return { reason }
}

/** Root gives itself up for the sandbox; staying root is good enough only where processes are counted by other means. */
function usersToTry(): readonly Bubblewrap['user'][] {
  if (process.geteuid?.() !== 0) return ['same']
  const counted = PidsCgroup.create(1)
  counted?.remove()
  return counted === undefined ? ['own', 'nobody'] : ['own', 'nobody', 'same']
}

/** What is wrong with a sandbox; undefined where nothing is. */
async function tryOne(made: Bubblewrap): Promise<string | undefined> {
  const shape = {
    limits: defaultSandboxLimits,
    network: false,
    mounts: [],
    env: { PATH: sandboxPath },
    cwd: workFolder,
  }
  const request = { program: '/bin/sh', argv: ['sh', '-c', trial], cwd: '/', env: {}, timeoutMs: deadlineMs }
  const cell = isolatedSandbox(made, shape, false)
  let end: ProcessEnd
  try {
    end = cell.explain(await runProcess(request, defaultLimits, cell, {}))
  } catch (error) {
    return (error as Error).message
  }
  if (end.stopped !== null) return 'the self-test did not end in time'
  const said = end.stdout.text.trim()
  return said === 'tried' ? undefined : `the sandbox does not hold: ${said.split('\n').slice(0, 3).join(', ')}`
}
