import { spawn } from 'node:child_process'
import type { RunControls } from '../../contract/executor.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { helperEnvironment } from '../process/base-environment.ts'
import { containmentOf, detectContainment } from '../process/containment.ts'
import { limitOwnProcess } from '../process/limit-own-process.ts'
import type { ProcessLimits } from '../process/limits.ts'
import { ProgramFinder } from '../process/program-finder.ts'
import { runProcess } from '../process/run-process.ts'
import { toStartError } from '../process/start-error.ts'
import { toOutcome } from '../process/to-outcome.ts'
import type { CliExecutorOptions } from './cli-executor.ts'
import type { PreparedCommand } from './prepare-command.ts'

/** Runs a prepared command without a sandbox, with limits only. */
export type RunHere = (prepared: PreparedCommand, controls: RunControls) => Promise<RunOutcome>

/** Runs commands outside a sandbox in a containment, so that no process outlives its call. */
export function createRunHere(options: CliExecutorOptions, limits: ProcessLimits): RunHere {
  const programs = new ProgramFinder()
  const { containment: wanted } = options
  let containment = typeof wanted === 'string' ? containmentOf(wanted) : wanted
  let limited: Promise<void> | undefined
  return async (prepared, controls) => {
    if (options.limitFiles) limited ??= limitOwnProcess(limits)
    await limited
    const { cwd = process.cwd() } = prepared
    try {
      containment ??= detectContainment()
      const program = programs.find(prepared.argv[0] ?? '', prepared.env, cwd)
      const command = { ...prepared, cwd, program }
      const unshielded = await containment.start(limits.processes)
      const scope = (await options.sandbox?.shield?.wrap(unshielded)) ?? unshielded
      const end = await runProcess(command, limits, scope, controls)
      if (end.stopped !== null && prepared.container !== undefined) removeContainer(prepared.container)
      return toOutcome(end, command, limits.outputFactor)
    } catch (error) {
      throw toStartError(error, prepared.argv[0] ?? '')
    }
  }
}

/** Killing the docker client can leave its container running, so the container is removed explicitly. */
function removeContainer(name: string): void {
  const options = { stdio: 'ignore', timeout: 10_000, env: helperEnvironment() } as const
  spawn('docker', ['rm', '--force', name], options).on('error', () => {})
}
