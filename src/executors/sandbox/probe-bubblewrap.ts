import type { Environment } from '../../base/expand-variables.ts'
import { findProgram } from '../process/find-program.ts'
import { defaultLimits } from '../process/limits.ts'
import { PidsCgroup } from '../process/pids-cgroup.ts'
import { procIsOurs } from '../process/process-tree.ts'
import { programText } from '../process/program-text.ts'
import { type ProcessEnd, runProcess } from '../process/run-process.ts'
import { sandboxPath, workFolder } from './bubblewrap-arguments.ts'
import { type Bubblewrap, isolatedSandbox } from './isolated-sandbox.ts'
import { defaultSandboxLimits } from './sandbox-limits.ts'
import { seccompProgram } from './seccomp-program.ts'
import type { Probed } from './self-test.ts'

const deadlineMs = 60_000

const trial = programText('./probe-bubblewrap.sh', import.meta.url)

/** Starts a sandbox and attacks it from inside; as root, with the strongest user that works. */
export async function probeBubblewrap(env: Environment): Promise<Probed<Bubblewrap>> {
  if (process.platform !== 'linux') return { reason: 'bubblewrap is for Linux only' }
  if (!procIsOurs()) return { reason: '/proc does not belong to this PID namespace' }
  const filter = seccompProgram()
  if (filter === undefined) return { reason: `there is no system call filter for the processor ${process.arch}` }
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

/** Root drops its privileges for the sandbox; it stays root only if a control group counts the processes. */
function usersToTry(): readonly Bubblewrap['user'][] {
  if (process.geteuid?.() !== 0) return ['same']
  const counted = PidsCgroup.create(1)
  counted?.remove()
  return counted === undefined ? ['own', 'nobody'] : ['own', 'nobody', 'same']
}

/** The failure of a sandbox; undefined if all checks pass. */
async function tryOne(made: Bubblewrap): Promise<string | undefined> {
  const shape = {
    limits: defaultSandboxLimits,
    network: false,
    mounts: [],
    env: { PATH: sandboxPath },
    cwd: workFolder,
  }
  const request = {
    program: '/bin/sh',
    argv: ['sh', '-c', trial(), 'sh', workFolder],
    cwd: '/',
    env: {},
    timeoutMs: deadlineMs,
  }
  const sandbox = isolatedSandbox(made, shape, false)
  let end: ProcessEnd
  try {
    end = sandbox.explain(await runProcess(request, defaultLimits, sandbox, {}))
  } catch (error) {
    return (error as Error).message
  }
  if (end.stopped !== null) return 'the self-test timed out'
  const output = end.stdout.text.trim()
  return output === 'tried'
    ? undefined
    : `the sandbox failed its self-test: ${output.split('\n').slice(0, 3).join(', ')}`
}
