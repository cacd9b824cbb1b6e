import { statSync } from 'node:fs'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import type { Executor, Job, RunControls } from '../../contract/executor.ts'
import type { RunOutcome, RunPlan } from '../../contract/run.ts'
import { boundValues, type Call, defineExecutor, deriveOnce } from '../define-executor.ts'
import { checkPath } from '../process/check-path.ts'
import { findProgram } from '../process/find-program.ts'
import { toProcessOutcome } from '../process/process-outcome.ts'
import { toStartError } from '../process/start-error.ts'
import type { AllowedFolder } from '../sandbox/allowed-folders.ts'
import { sandboxPath } from '../sandbox/bubblewrap-arguments.ts'
import { explainSandboxFailure } from '../sandbox/explain-sandbox-failure.ts'
import type { Sandbox, SandboxRequest } from '../sandbox/sandbox.ts'
import { type Level, levelOf, resolveSandboxEnv } from '../sandbox/sandbox-config.ts'
import { limitsForSandbox } from '../sandbox/sandbox-limits.ts'
import { mergeMounts, mountsForPaths, visibleEnv, visibleFolder, visibleProgram } from '../sandbox/visible-program.ts'
import { ShellConfig } from './check-config.ts'
import { argumentText, fillCommand } from './fill-command.ts'

/** The settings of the shell executor. */
export interface ShellExecutorOptions {
  readonly sandbox: Sandbox
  readonly env: Environment
}

const defaultTimeoutMs = 30_000

/** Runs tools that are a command: an array of arguments, never a command line for a shell. */
export function createShellExecutor(options: ShellExecutorOptions): Executor {
  const { sandbox } = options
  return defineExecutor({
    kind: 'shell',
    // The path check and the program must resolve relative paths from the same folder.
    config: ShellConfig.transform((config) => ({ ...config, cwd: config.cwd ?? Object.values(config.paths ?? {})[0] })),
    deadlineMs: ({ timeoutMs = defaultTimeoutMs }) => timeoutMs,
    readiness: ({ isolation }) => sandbox.readiness(isolation),
    isolationOf: ({ isolation }) => isolation ?? sandbox.levels.known,
    prepare(call) {
      const derive = deriveOnce(() => prepareCommand(call, options))
      return {
        bound: boundValues({ tool: call.tool, input: withoutNull(call.input) }),
        plan: async () => toPlan(await derive(), call),
        run: async (controls) => run(await derive(), call, sandbox, controls),
      }
    },
  })
}

type ShellCall = Call<ShellConfig>

/** A null parameter is not an argument of the command. */
const withoutNull = (input: Job['input']): Job['input'] =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))

async function run(prepared: Prepared, call: ShellCall, sandbox: Sandbox, controls: RunControls): Promise<RunOutcome> {
  const { request, stdin } = prepared
  const { deadlineMs: timeoutMs } = call
  const env = { ...request.env, ...(await resolveSandboxEnv(call.config.env ?? {}, controls)) }
  try {
    const started = await sandbox.prepare({ ...request, env })
    const end = await started.run({ stdin, timeoutMs, controls })
    const outcome = toProcessOutcome(end, { timeoutMs }, sandbox.limits.outputFactor, request.level)
    return request.level === 'limited' ? outcome : explainSandboxFailure(outcome, visibleTo(request, call, sandbox))
  } catch (error) {
    throw toStartError(error, request.argv[0] ?? '')
  }
}

/** The parts of the machine that a command can use: of the allowed folders, those that its tool names. */
function visibleTo(request: SandboxRequest, { config, input, grants }: ShellCall, sandbox: Sandbox) {
  const folders = request.mounts.map(({ source: path, writable }) => ({ path, writable: writable === true }))
  const unnamed = grants?.includes('folders') === false ? [] : sandbox.folders
  const { cwd, network } = request
  return { input, folders, unnamed, cwd, network, wantsNetwork: config.network === true }
}

interface Prepared {
  readonly request: SandboxRequest
  readonly stdin: string | undefined
}

async function prepareCommand(call: ShellCall, { sandbox, env }: ShellExecutorOptions): Promise<Prepared> {
  const { tool, input, config } = call
  const argv = fillCommand(config.command, { input, dashes: config.dashes })
  checkRoots(config, input)
  const level = await sandbox.levelFor(tool.name, levelOf(call, config.isolation))
  const [command = ''] = argv
  const settings =
    level === 'limited'
      ? limitedSettings(config, command, env)
      : sandboxedSettings(call.grants?.includes('folders') === false ? [] : sandbox.folders, level, config, command)
  const request: SandboxRequest = {
    ...settings,
    level,
    argv,
    limits: limitsForSandbox(tool.name, config.limits, sandbox.bounds),
    network: sandbox.networkFor(tool.name, config.network),
    withChannel: false,
  }
  const text = config.stdin === undefined ? undefined : input[config.stdin]
  return { request, stdin: text == null ? undefined : argumentText(text) }
}

/** The parts of a sandbox request that depend on the isolation level. */
type LevelSettings = Pick<SandboxRequest, 'program' | 'cwd' | 'env' | 'mounts' | 'asOwnerOf'>

function sandboxedSettings(
  folders: readonly AllowedFolder[],
  level: Level,
  config: ShellConfig,
  command: string,
): LevelSettings {
  const folder = visibleFolder(folders, level, config.cwd)
  const found = visibleProgram(folders, command, { cwd: folder.cwd })
  const roots = mountsForPaths(folders, Object.values(config.paths ?? {}), 'folder')
  const mounts = mergeMounts([...folder.mounts, ...found.mounts, ...roots])
  return { program: found.program, cwd: folder.cwd, env: visibleEnv(level), mounts, asOwnerOf: mounts[0]?.source }
}

function limitedSettings(config: ShellConfig, command: string, env: Environment): LevelSettings {
  const { cwd } = config
  if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new TooldexError('WORKING_DIR_INVALID', `The folder ${cwd} does not exist.`)
  const path = env.PATH ?? sandboxPath
  return { program: findProgram(command, { PATH: path }, cwd ?? '/'), cwd, env: { PATH: path }, mounts: [] }
}

/** Paths are checked on the machine itself: a sandbox mounts folders at the same paths. */
function checkRoots({ paths = {}, cwd }: ShellConfig, input: Job['input']): void {
  for (const [name, root] of Object.entries(paths)) {
    for (const value of [input[name]].flat()) if (value != null) checkPath(name, argumentText(value), root, cwd ?? root)
  }
}

function toPlan({ request, stdin }: Prepared, { config, deadlineMs }: ShellCall): RunPlan {
  return {
    kind: 'shell',
    isolation: request.level,
    timeoutMs: deadlineMs,
    argv: [...request.argv],
    cwd: request.cwd ?? null,
    env: [...new Set([...Object.keys(request.env), ...Object.keys(config.env ?? {})])].sort(),
    stdin: stdin !== undefined,
    // The level limited does not restrict the network.
    network: request.network || request.level === 'limited',
    limits: { ...request.limits },
  }
}
