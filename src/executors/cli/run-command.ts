import { spawn } from 'node:child_process'
import type { RunControls } from '../../contract/executor.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { helperEnvironment } from '../process/base-environment.ts'
import { createContainment, detectContainment } from '../process/containment.ts'
import { ProgramFinder } from '../process/find-program.ts'
import { limitOwnProcess } from '../process/limit-own-process.ts'
import type { ProcessLimits } from '../process/limits.ts'
import { toProcessOutcome } from '../process/process-outcome.ts'
import { runProcess } from '../process/run-process.ts'
import { toStartError } from '../process/start-error.ts'
import type { AllowedFolder } from '../sandbox/allowed-folders.ts'
import { explainSandboxFailure } from '../sandbox/explain-sandbox-failure.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { Level } from '../sandbox/sandbox-config.ts'
import { type LimitsConfig, limitsForSandbox } from '../sandbox/sandbox-limits.ts'
import { mergeMounts, toMounts, visibleEnv, visibleFolder, visibleProgram } from '../sandbox/visible-program.ts'
import type { CliExecutorOptions } from './cli-executor.ts'
import type { CliCall, PreparedCommand } from './prepare-command.ts'
import { commandUsesNetwork } from './prepare-command.ts'

/** A command that is ready to be started in a sandbox. */
interface SandboxedCommand {
  readonly call: CliCall
  readonly level: Level
  readonly argv: readonly string[]
  /** A fresh folder where absent. */
  readonly cwd: string | undefined
  /** The folders of the machine that are visible. */
  readonly folders: readonly AllowedFolder[]
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string | undefined
  readonly timeoutMs: number
}

/** Runs a command in a sandbox, with access to the programs of the system and the folders that the operator allows. */
export async function runSandboxedCommand(
  command: SandboxedCommand,
  sandbox: Sandbox,
  controls: RunControls,
): Promise<RunOutcome> {
  const { call, level, argv, folders, stdin, timeoutMs } = command
  const { tool, config } = call
  const limits = tool.executorConfig.limits as LimitsConfig | undefined
  try {
    const { cwd, mounts } = visibleFolder(folders, level, command.cwd)
    // Without the grant, whether a program exists in a folder of PATH is not revealed.
    const path = call.grants?.includes('folders') === false ? undefined : command.env.PATH
    const found = visibleProgram(folders, argv[0] ?? '', { cwd, path })
    const network = commandUsesNetwork(tool, sandbox)
    const wantsNetwork = config.tool.network === true
    const run = await sandbox.prepare({
      level,
      program: found.program,
      argv,
      env: sandboxedEnv(command),
      cwd,
      limits: limitsForSandbox(tool.name, limits, sandbox.bounds),
      network,
      mounts: mergeMounts([...toMounts(folders), ...mounts, ...found.mounts]),
      asOwnerOf: mounts[0]?.source ?? folders[0]?.path,
      withChannel: false,
    })
    const end = await run.run({ stdin, timeoutMs, controls })
    const outcome = toProcessOutcome(end, { timeoutMs }, sandbox.limits.outputFactor, level)
    return explainSandboxFailure(outcome, { input: call.input, folders, cwd, network, wantsNetwork })
  } catch (error) {
    throw toStartError(error, argv[0] ?? '')
  }
}

/** The variables that name folders and users of the machine are removed, because they are meaningless inside. */
function sandboxedEnv({ env, call, level }: SandboxedCommand): Record<string, string> {
  const { HOME: _home, TMPDIR: _folder, SHELL: _shell, USER: _user, LOGNAME: _name, ...rest } = env
  const declared = Object.keys(call.config.env)
  const own = Object.fromEntries(declared.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
  return { ...rest, ...visibleEnv(level), ...own }
}

/** Runs a prepared command without a sandbox, with limits only. */
type RunHere = (prepared: PreparedCommand, controls: RunControls) => Promise<RunOutcome>

/** Runs commands outside a sandbox in a containment, so that no process outlives its call. */
export function createRunHere(options: CliExecutorOptions, limits: ProcessLimits): RunHere {
  const programs = new ProgramFinder()
  const { containment: wanted } = options
  let containment = typeof wanted === 'string' ? createContainment(wanted) : wanted
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
      return toProcessOutcome(end, command, limits.outputFactor)
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
