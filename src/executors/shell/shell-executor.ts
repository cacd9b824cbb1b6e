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

/** How commands are run. */
export interface ShellExecutorOptions {
  readonly sandbox: Sandbox
  readonly env: Environment
}

const defaultTimeoutMs = 30_000

/** Runs tools that are a command: a list of words, never a line for a shell. */
export function createShellExecutor(options: ShellExecutorOptions): Executor {
  const { sandbox } = options
  return {
    kind: 'shell',
    readiness: (tool) => sandbox.readiness(readConfig(tool).isolation),
    isolationOf: (tool) => readConfig(tool).isolation ?? sandbox.levels.known,
    // A parameter that is null is no word of the command.
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
        const place = await sandbox.place({ ...request, env: traced })
        const end = await place.run({ stdin, timeoutMs, controls })
        const outcome = toOutcome(end, { timeoutMs }, sandbox.limits.outputFactor, request.level)
        return request.level === 'limited' ? outcome : explainFailure(outcome, seenBy(prepared, job, sandbox))
      } catch (error) {
        throw toStartError(error, request.argv[0] ?? '')
      }
    },
  }
}

/** What a command sees of the machine: of the allowed folders those that its tool names. */
function seenBy({ config, request }: Prepared, { input, grants }: Job, sandbox: Sandbox) {
  const folders = request.mounts.map(({ source: path, writable }) => ({ path, writable: writable === true }))
  const unnamed = grants?.includes('folders') === false ? [] : sandbox.folders
  const { cwd, network } = request
  return { input, folders, unnamed, cwd, network, wantsNetwork: config.network === true }
}

function readConfig({ name, executorConfig }: RunnableTool): ShellConfig {
  const parsed = ShellConfig.safeParse(executorConfig)
  // A relative path means the same to us as to the program only where both begin in the same folder.
  if (parsed.success) return { ...parsed.data, cwd: parsed.data.cwd ?? Object.values(parsed.data.paths ?? {})[0] }
  throw new TooldexError('TOOL_INVALID', `${name} has a config that cannot be run.`)
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
  const [word = ''] = argv
  const place =
    level === 'limited'
      ? limitedPlace(config, word, env)
      : sandboxedCommand(job.grants?.includes('folders') === false ? [] : sandbox.folders, level, config, word)
  const request: SandboxRequest = {
    ...place,
    level,
    argv,
    limits: limitsFor(tool.name, config.limits, sandbox.bounds),
    network: sandbox.networkFor(tool.name, config.network),
    withChannel: false,
  }
  const text = config.stdin === undefined ? undefined : input[config.stdin]
  return { config, request, stdin: text == null ? undefined : argumentText(text) }
}

/** What a command is run with at a level. */
type ShellPlace = Pick<SandboxRequest, 'program' | 'cwd' | 'env' | 'mounts' | 'asOwnerOf'>

function sandboxedCommand(
  folders: readonly AllowedFolder[],
  level: Level,
  config: ShellConfig,
  word: string,
): ShellPlace {
  const folder = visibleFolder(folders, level, config.cwd)
  const found = visibleProgram(folders, word, { cwd: folder.cwd })
  const roots = mountsFor(folders, Object.values(config.paths ?? {}), 'folder')
  const mounts = mergeMounts([...folder.mounts, ...found.mounts, ...roots])
  return { program: found.program, cwd: folder.cwd, env: visibleEnv(level), mounts, asOwnerOf: mounts[0]?.source }
}

function limitedPlace(config: ShellConfig, word: string, env: Environment): ShellPlace {
  const { cwd } = config
  if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new TooldexError('WORKING_DIR_INVALID', `The folder ${cwd} does not exist.`)
  const path = env.PATH ?? sandboxPath
  return { program: findProgram(word, { PATH: path }, cwd ?? '/'), cwd, env: { PATH: path }, mounts: [] }
}

/** Paths are looked at where they lie on the machine: a run in a sandbox sees the same folders at the same places. */
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
    // Limits keep nothing from the network.
    network: request.network || request.level === 'limited',
    limits: { ...request.limits },
  }
}
