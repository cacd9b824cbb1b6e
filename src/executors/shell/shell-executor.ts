import { statSync } from 'node:fs'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import type { Executor, Job, RunnableTool } from '../../contract/executor.ts'
import type { RunPlan } from '../../contract/run.ts'
import { boundValues } from '../bound-values.ts'
import { checkPath } from '../process/check-path.ts'
import { findProgram } from '../process/find-program.ts'
import { toStartError } from '../process/start-error.ts'
import { toOutcome } from '../process/to-outcome.ts'
import type { AllowedFolder } from '../sandbox/allowed-folders.ts'
import { sandboxPath } from '../sandbox/bubblewrap-arguments.ts'
import { explainFailure } from '../sandbox/explain-failure.ts'
import { type Level, levelOf } from '../sandbox/level.ts'
import { resolveEnv } from '../sandbox/resolve-env.ts'
import type { Sandbox, SandboxRequest } from '../sandbox/sandbox.ts'
import { limitsFor } from '../sandbox/sandbox-limits.ts'
import { mergeMounts, mountsFor, visibleEnv, visibleFolder, visibleProgram } from '../sandbox/visible-program.ts'
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
  return {
    kind: 'shell',
    readiness: (tool) => sandbox.readiness(readConfig(tool).isolation),
    isolationOf: (tool) => readConfig(tool).isolation ?? sandbox.levels.known,
    // A null parameter is not an argument of the command.
    boundValues: ({ tool, input }) =>
      boundValues({ tool, input: Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) }),
    deadlineMs: deadlineOf,
    plan: async (job) => toPlan(await prepare(job, options), job),
    async run(job, controls) {
      const prepared = await prepare(job, options)
      const { request, stdin } = prepared
      const env = { ...request.env, ...(await resolveEnv(prepared.config.env ?? {}, controls.secret)) }
      const traced = job.traceparent === undefined ? env : { ...env, TRACEPARENT: job.traceparent }
      const timeoutMs = deadlineOf(job)
      try {
        const run = await sandbox.prepare({ ...request, env: traced })
        const end = await run.run({ stdin, timeoutMs, controls })
        const outcome = toOutcome(end, { timeoutMs }, sandbox.limits.outputFactor, request.level)
        return request.level === 'limited' ? outcome : explainFailure(outcome, visibleTo(prepared, job, sandbox))
      } catch (error) {
        throw toStartError(error, request.argv[0] ?? '')
      }
    },
  }
}

/** The parts of the machine that a command can use: of the allowed folders, those that its tool names. */
function visibleTo({ config, request }: Prepared, { input, grants }: Job, sandbox: Sandbox) {
  const folders = request.mounts.map(({ source: path, writable }) => ({ path, writable: writable === true }))
  const unnamed = grants?.includes('folders') === false ? [] : sandbox.folders
  const { cwd, network } = request
  return { input, folders, unnamed, cwd, network, wantsNetwork: config.network === true }
}

function readConfig({ name, executorConfig }: RunnableTool): ShellConfig {
  const parsed = ShellConfig.safeParse(executorConfig)
  // The path check and the program must resolve relative paths from the same folder.
  if (parsed.success) return { ...parsed.data, cwd: parsed.data.cwd ?? Object.values(parsed.data.paths ?? {})[0] }
  throw new TooldexError('TOOL_INVALID', `${name} has an invalid config.`)
}

const deadlineOf = (job: Job): number => job.timeoutMs ?? readConfig(job.tool).timeoutMs ?? defaultTimeoutMs

interface Prepared {
  readonly config: ShellConfig
  readonly request: SandboxRequest
  readonly stdin: string | undefined
}

async function prepare(job: Job, { sandbox, env }: ShellExecutorOptions): Promise<Prepared> {
  const { tool, input } = job
  const config = readConfig(tool)
  const argv = fillCommand(config.command, { input, dashes: config.dashes })
  checkRoots(config, input)
  const level = await sandbox.levelFor(tool.name, levelOf(job, config.isolation))
  const [command = ''] = argv
  const settings =
    level === 'limited'
      ? limitedSettings(config, command, env)
      : sandboxedSettings(job.grants?.includes('folders') === false ? [] : sandbox.folders, level, config, command)
  const request: SandboxRequest = {
    ...settings,
    level,
    argv,
    limits: limitsFor(tool.name, config.limits, sandbox.bounds),
    network: sandbox.networkFor(tool.name, config.network),
    withChannel: false,
  }
  const text = config.stdin === undefined ? undefined : input[config.stdin]
  return { config, request, stdin: text == null ? undefined : argumentText(text) }
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
  const roots = mountsFor(folders, Object.values(config.paths ?? {}), 'folder')
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

function toPlan({ config, request, stdin }: Prepared, job: Job): RunPlan {
  return {
    kind: 'shell',
    isolation: request.level,
    timeoutMs: deadlineOf(job),
    argv: [...request.argv],
    cwd: request.cwd ?? null,
    env: [...new Set([...Object.keys(request.env), ...Object.keys(config.env ?? {})])].sort(),
    stdin: stdin !== undefined,
    // The level limited does not restrict the network.
    network: request.network || request.level === 'limited',
    limits: { ...request.limits },
  }
}
