import { TooldexError } from '../../base/errors.ts'
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
import type { RunHere } from './run-here.ts'
import { networkOf } from './sandbox-shape.ts'

/** How commands are run. */
export interface CliExecutorOptions extends CommandSettings {
  readonly limits?: Partial<ProcessLimits> | undefined
  /** Bounds the size of files written by this process and everything it starts: for a process that is Tooldex alone. */
  readonly limitFiles?: boolean | undefined
  /** How processes are kept together; the strongest way the machine gives where absent. */
  readonly containment?: Containment | Containment['kind'] | undefined
  /** The configs whose tools a service runs with limits only, by name; `*` for all, registered tools included. */
  readonly limited?: readonly string[] | undefined
}

/** Runs the commands that YAML configs describe: for a user as the user would, for a service in a sandbox. */
export function createCliExecutor(options: CliExecutorOptions): Executor {
  const limits = { ...defaultLimits, ...options.limits }
  let loaded: Promise<RunHere> | undefined
  const readiness = new ProgramReadiness(options)
  return {
    kind: 'cli',
    readiness: (tool) => unlessRefused(tool, options) ?? readiness.of(resolveTool(tool)),
    isolationOf: (tool) => knownLevel(tool, options),
    boundValues(job) {
      const { values, globals } = toRequest(job, environmentOf(job, options.env))
      // Values nobody typed are bound as well: a default or a global argument is no way round a policy.
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
      if (level !== 'limited') return sandboxed(job, level, { prepared, options, controls })
      // Loaded with the first call: a server for an MCP client starts without.
      loaded ??= import('./run-here.ts').then(({ createRunHere }) => createRunHere(options, limits))
      return (await loaded)(prepared, controls)
    },
  }
}

/** The level that a tool asks for; undefined for the best there is. */
function wantedLevel(tool: RunnableTool, { scope, limited = [], where }: CliExecutorOptions): Level | undefined {
  const { isolation } = resolveTool(tool).tool
  if (isolation === 'isolated' || isolation === 'confined') return isolation
  if (scope === 'user' || where?.()?.type === 'docker') return 'limited'
  return isolation === 'limited' || isLimited(tool, limited) ? 'limited' : undefined
}

/** Whether the operator runs the tool without a sandbox. */
const isLimited = ({ config }: RunnableTool, limited: readonly string[]): boolean =>
  limited.includes('*') || (config !== undefined && limited.includes(config))

/** What keeps a tool of a service from the level that it asks for. */
function unlessRefused(tool: RunnableTool, options: CliExecutorOptions): Readiness | undefined {
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
    throw new TooldexError('UNAVAILABLE', `${job.tool.name} asks for a sandbox, and there is none for it here.`, {
      hint: 'Call it through a server.',
    })
  if (wanted === 'limited' && job.tool.config !== undefined && sandbox.readiness('limited').state !== 'ready')
    throw new TooldexError('POLICY_REFUSED', `${job.tool.name} asks to run without a sandbox, with limits only.`, {
      hint: `The operator of the server can allow it: tooldex serve --limited ${job.tool.config}`,
    })
  return sandbox.levelFor(job.tool.name, wanted)
}

/** The level that a tool of a service gets, as far as it is known without trying. */
function knownLevel(tool: RunnableTool, options: CliExecutorOptions): Isolation | undefined {
  if (options.scope === 'user') return undefined
  return wantedLevel(tool, options) ?? options.sandbox?.levels.known
}

/** What a run in a sandbox is made of. */
interface Sandboxed {
  readonly prepared: PreparedCommand
  readonly options: CliExecutorOptions
  readonly controls: RunControls
}

async function sandboxed(job: Job, level: Level, { prepared, options, controls }: Sandboxed): Promise<RunOutcome> {
  const { sandbox } = options
  if (sandbox === undefined || prepared.container !== undefined)
    throw new TooldexError('UNAVAILABLE', `${job.tool.name} asks for a sandbox, and there is none for it here.`, {
      hint: 'Call it through a server, and under no policy that puts commands into containers.',
    })
  // Most processes never need it.
  const { runSandboxed } = await import('./run-sandboxed.ts')
  const declared = Object.keys(resolveTool(job.tool).env)
  return runSandboxed({ ...prepared, job, level, declared }, sandbox, controls)
}

function toPlan(job: Job, command: PreparedCommand, isolation: Level, { sandbox }: CliExecutorOptions): RunPlan {
  const { argv, cwd, folders, env, stdin, timeoutMs } = command
  const words = { argv: [...argv], cwd: cwd ?? null, env: Object.keys(env).sort(), stdin: stdin !== undefined }
  const common = { kind: 'cli', isolation, timeoutMs, ...words } as const
  if (isolation === 'limited' || sandbox === undefined) return common
  const seen = folders.map(({ path, writable }) => `${path}:${writable ? 'rw' : 'ro'}`)
  return { ...common, folders: seen, network: networkOf(job, sandbox) }
}
