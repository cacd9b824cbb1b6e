import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../base/expand-variables.ts'
import { withoutPeriod } from '../../diagnostics/sentences.ts'
import { findProgram } from '../process/find-program.ts'
import { findPython } from '../process/find-python.ts'
import { defaultLimits } from '../process/limits.ts'
import { PidsCgroup } from '../process/pids-cgroup.ts'
import { isOwnProc } from '../process/process-tree.ts'
import { programText } from '../process/program-text.ts'
import { type ProcessEnd, runProcess } from '../process/run-process.ts'
import { sandboxPath, workFolder } from './bubblewrap-arguments.ts'
import { confinedSandbox, type Landlock } from './confined-sandbox.ts'
import { type Bubblewrap, isolatedSandbox } from './isolated-sandbox.ts'
import { defaultSandboxLimits } from './sandbox-limits.ts'
import { seccompProgram } from './seccomp-program.ts'
import type { Probed } from './self-test.ts'
import { interpreterMounts } from './visible-program.ts'

const deadlineMs = 60_000

const bubblewrapTrial = programText('./probe-bubblewrap.sh', import.meta.url)

/** Starts a sandbox and attacks it from inside; as root, with the strongest user that works. */
export async function probeBubblewrap(env: Environment): Promise<Probed<Bubblewrap>> {
  if (process.platform !== 'linux') return { reason: 'bubblewrap is for Linux only' }
  if (!isOwnProc()) return { reason: '/proc does not belong to this PID namespace' }
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
    const found = await tryBubblewrap(made)
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
async function tryBubblewrap(made: Bubblewrap): Promise<string | undefined> {
  const shape = {
    limits: defaultSandboxLimits,
    network: false,
    mounts: [],
    env: { PATH: sandboxPath },
    cwd: workFolder,
  }
  const request = {
    program: '/bin/sh',
    argv: ['sh', '-c', bubblewrapTrial(), 'sh', workFolder],
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

const landlockTrial = programText('./probe-landlock.py', import.meta.url)

/** Confines a program and attacks from inside; as root, with the strongest user that works. */
export async function probeLandlock(env: Environment): Promise<Probed<Landlock>> {
  if (process.platform !== 'linux') return { reason: 'Landlock is for Linux only' }
  if (seccompProgram() === undefined)
    return { reason: `there is no system call filter for the processor ${process.arch}` }
  const python = findPython(env)
  if (python === undefined) return { reason: 'there is no python3 to start programs with' }
  let reason = ''
  for (const user of process.geteuid?.() === 0 ? (['own', 'nobody'] as const) : (['same'] as const)) {
    const found = await tryLandlock({ python, user })
    if (found === undefined) return { made: { python, user } }
    reason ||= found
  }
  return { reason }
}

/** The failure of the confinement; undefined if all attacks fail. */
async function tryLandlock(made: Landlock): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'tooldex-trial-'))
  const canary = join(folder, 'canary')
  const line = createServer((socket) => socket.destroy())
  try {
    // World-writable, so that only Landlock can protect it.
    writeFileSync(canary, 'canary')
    chmodSync(canary, 0o666)
    chmodSync(folder, 0o777)
    const end = await runTrial(made, canary, await listen(line))
    if (end.stopped !== null) return 'the self-test timed out'
    const output = end.stdout.text.trim()
    if (output === 'tried') return undefined
    const [last = ''] = end.stderr.text.trim().split('\n').slice(-1)
    return `Landlock failed its self-test: ${[...output.split('\n').slice(0, 3), last].filter(Boolean).join(', ')}`
  } catch (error) {
    return withoutPeriod((error as Error).message)
  } finally {
    line.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runTrial(made: Landlock, canary: string, port: number): Promise<ProcessEnd> {
  const { python } = made
  const shape = { limits: defaultSandboxLimits, network: false, mounts: interpreterMounts(python), env: {} }
  const sandbox = confinedSandbox(made, shape, false)
  const trialArguments = [canary, port, process.pid].map(String)
  const argv = [python, '-I', '-S', '-B', '-c', landlockTrial(), ...trialArguments]
  const request = { program: python, argv, cwd: '/', env: {}, timeoutMs: deadlineMs }
  return sandbox.explain(await runProcess(request, defaultLimits, sandbox, {}))
}

/** A listening port, so that a failed connection proves the restriction. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}
