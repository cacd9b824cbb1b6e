import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { Executor, Job, RunControls, RunnableTool } from '../../contract/executor.ts'
import type { Isolation, RunOutcome, RunPlan } from '../../contract/run.ts'
import type { Readiness } from '../../contract/tool-state.ts'
import type { Containment } from '../process/containment.ts'
import { defaultLimits, type ProcessLimits } from '../process/limits.ts'
import { type Level, levelOf } from '../sandbox/level.ts'
import {
  type CommandSettings,
  deadlineOf,
  environmentOf,
  type PreparedCommand,
  prepareCommand,
  toRequest,
} from './prepare-command.ts'
import { ProgramReadiness } from './program-readiness.ts'
import { resolveTool } from './resolve-tool.ts'
import { networkOf } from './sandbox-shape.ts'

// Loaded on demand: most processes never need it.
const loadRunSandboxed = lazyModule(() => import('./run-sandboxed.ts'))

/** The settings of the CLI executor. */
export interface CliExecutorOptions extends CommandSettings {
  readonly limits?: Partial<ProcessLimits> | undefined
  /** Bounds the size of files written by this process and its children; only for a process that runs nothing but Tooldex. */
  readonly limitFiles?: boolean | undefined
  /** The containment of processes; the strongest that the machine supports where absent. */
  readonly containment?: Containment | Containment['kind'] | undefined
  /** The configs whose tools a service runs with limits only, by name; `*` for all, registered tools included. */
  readonly limited?: readonly string[] | undefined
}

/** Runs the commands of YAML configs: for a user with the rights of the user, for a service in a sandbox. */
export function createCliExecutor(options: CliExecutorOptions): Executor {
  const limits = { ...defaultLimits, ...options.limits }
  // Loaded with the first call, to keep the start of a server fast.
  const loadRunHere = lazyModule(async () => (await import('./run-here.ts')).createRunHere(options, limits))
  const readiness = new ProgramReadiness(options)
  return {
    kind: 'cli',
    readiness: (tool) => levelProblem(tool, options) ?? readiness.of(resolveTool(tool)),
    isolationOf: (tool) => knownLevel(tool, options),
    boundValues(job) {
      const { values, globals } = toRequest(job, environmentOf(job, options.env))
      // Defaults and global arguments are checked as well, so that they cannot bypass a policy.
      return [values, globals]
    },
    deadlineMs: (job) => deadlineOf(job, limits),
    async plan(job) {
      const level = await levelFor(job, options)
      return toPlan(job, prepareCommand(job, level, options, limits), level, options)
    },
    async run(job, controls) {
      const level = await levelFor(job, options)
      const prepared = prepareCommand(job, level, options, limits)
      if (level !== 'limited') return runInSandbox(job, level, { prepared, options, controls })
      return (await loadRunHere())(prepared, controls)
    },
  }
}

/** The level that a tool requests; undefined for the best available. */
function wantedLevel(tool: RunnableTool, { scope, limited = [], where }: CliExecutorOptions): Level | undefined {
  const { isolation } = resolveTool(tool).tool
  if (isolation === 'isolated' || isolation === 'confined') return isolation
  if (scope === 'user' || where?.()?.type === 'docker') return 'limited'
  return isolation === 'limited' || isLimited(tool, limited) ? 'limited' : undefined
}

/** Whether the operator runs the tool without a sandbox. */
const isLimited = ({ config }: RunnableTool, limited: readonly string[]): boolean =>
  limited.includes('*') || (config !== undefined && limited.includes(config))

/** The reason why a tool of a service cannot run at its level; undefined if it can. */
function levelProblem(tool: RunnableTool, options: CliExecutorOptions): Readiness | undefined {
  const { scope, sandbox, limited = [], where } = options
  if (scope === 'user' || where?.()?.type === 'docker' || isLimited(tool, limited)) return undefined
  const readiness = sandbox?.readiness(wantedLevel(tool, options))
  return readiness?.state === 'ready' ? undefined : readiness
}

async function levelFor(job: Job, options: CliExecutorOptions): Promise<Level> {
  const { scope, sandbox, limited = [], where } = options
  const wanted = levelOf(job, wantedLevel(job.tool, options))
  const allowed = scope === 'user' || isLimited(job.tool, limited) || where?.()?.type === 'docker'
  if (wanted === 'limited' && allowed) return wanted
  if (sandbox === undefined)
    throw new TooldexError('UNAVAILABLE', `${job.tool.name} requires a sandbox, which is not available here.`, {
      hint: 'Call it through a server: tooldex serve',
    })
  if (wanted === 'limited' && job.tool.config !== undefined && sandbox.readiness('limited').state !== 'ready')
    throw new TooldexError(
      'POLICY_REFUSED',
      `${job.tool.name} requests the isolation level limited, which is not allowed for it.`,
      {
        hint: `The operator of the server can allow it: tooldex serve --limited ${job.tool.config}`,
      },
    )
  return sandbox.levelFor(job.tool.name, wanted)
}

/** The level of a tool of a service, as far as it is known without a self-test. */
function knownLevel(tool: RunnableTool, options: CliExecutorOptions): Isolation | undefined {
  if (options.scope === 'user') return undefined
  return wantedLevel(tool, options) ?? options.sandbox?.levels.known
}

/** The parts of a run in a sandbox. */
interface Sandboxed {
  readonly prepared: PreparedCommand
  readonly options: CliExecutorOptions
  readonly controls: RunControls
}

async function runInSandbox(job: Job, level: Level, { prepared, options, controls }: Sandboxed): Promise<RunOutcome> {
  const { sandbox } = options
  if (sandbox === undefined || prepared.container !== undefined)
    throw new TooldexError('UNAVAILABLE', `${job.tool.name} requires a sandbox, which is not available here.`, {
      hint: 'Call it through a server whose policy does not run commands in containers.',
    })
  const { runSandboxed } = await loadRunSandboxed()
  const declared = Object.keys(resolveTool(job.tool).env)
  return runSandboxed({ ...prepared, job, level, declared }, sandbox, controls)
}

function toPlan(job: Job, command: PreparedCommand, isolation: Level, { sandbox }: CliExecutorOptions): RunPlan {
  const { argv, cwd, folders, env, stdin, timeoutMs } = command
  const details = { argv: [...argv], cwd: cwd ?? null, env: Object.keys(env).sort(), stdin: stdin !== undefined }
  const common = { kind: 'cli', isolation, timeoutMs, ...details } as const
  if (isolation === 'limited' || sandbox === undefined) return common
  const visible = folders.map(({ path, writable }) => `${path}:${writable ? 'rw' : 'ro'}`)
  return { ...common, folders: visible, network: networkOf(job, sandbox) }
}
