import { resolve } from 'node:path'
import { BoundedMap } from '../../base/bounded-map.ts'
import { TooldexError } from '../../base/errors.ts'
import { type Environment, expandHome, expandVariables } from '../../base/expand-variables.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { splitCommandWords } from '../../base/split-words.ts'
import { type Readiness, ready } from '../../contract/catalog.ts'
import { CliExecutorConfig } from '../../contract/cli-config.ts'
import type { Executor, RunControls, RunnableTool } from '../../contract/executor.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'
import type { Isolation, RunOutcome, RunPlan } from '../../contract/run.ts'
import type { ResolvedTool } from '../../contract/tool-index.ts'
import { readSetting } from '../../rules/settings.ts'
import { defineExecutor, deriveOnce } from '../define-executor.ts'
import type { Containment } from '../process/containment.ts'
import { findProgram } from '../process/find-program.ts'
import { defaultLimits, type ProcessLimits } from '../process/limits.ts'
import { toStartError } from '../process/start-error.ts'
import { type Level, levelOf } from '../sandbox/sandbox-config.ts'
import {
  type CliCall,
  type CommandSettings,
  commandUsesNetwork,
  type PreparedCommand,
  prepareCommand,
  prepareRunRequest,
} from './prepare-command.ts'

// Loaded on demand: most processes never need it.
const loadRunSandboxed = lazyModule(() => import('./run-command.ts'))

/** The settings of the CLI executor. */
export interface CliExecutorOptions extends CommandSettings {
  readonly limits?: Partial<ProcessLimits> | undefined
  /** Bounds the size of files written by this process and its children; only for a process that runs nothing but Tooldex. */
  readonly limitFiles?: boolean | undefined
  /** The containment of processes; the strongest that the machine supports where absent. */
  readonly containment?: Containment | Containment['kind'] | undefined
  /** The configs, besides those of TOOLDEX_LIMITED, whose tools a service runs with limits only; `*` for all, registered tools included. */
  readonly limited?: readonly string[] | undefined
}

/** Runs the commands of YAML configs: for a user with the rights of the user, for a service in a sandbox. */
export function createCliExecutor(given: CliExecutorOptions): Executor {
  const listed = readSetting('TOOLDEX_LIMITED', given.env) ?? ''
  const options = { ...given, limited: [...(given.limited ?? []), ...listed.split(/[ ,]+/).filter(Boolean)] }
  const limits = { ...defaultLimits, ...options.limits }
  // Loaded with the first call, to keep the start of a server fast.
  const loadRunHere = lazyModule(async () => (await import('./run-command.ts')).createRunHere(options, limits))
  const programs = new ProgramReadiness(options)
  return defineExecutor({
    kind: 'cli',
    config: CliTool,
    parsed: ({ resolved }) => resolved,
    deadlineMs: ({ tool: { timeout } }) => (timeout ? Math.round(timeout * 1000) : limits.timeoutMs),
    readiness: (config, tool) => levelProblem(config, tool, options) ?? programs.of(config),
    isolationOf: (config, tool) => knownLevel(config, tool, options),
    prepare(call) {
      const request = prepareRunRequest(call, options.env)
      const derive = deriveOnce(async () => {
        const level = await levelFor(call, options)
        return { level, command: prepareCommand(call, request, level, options) }
      })
      return {
        // Defaults and global arguments are checked as well, so that they cannot bypass a policy.
        bound: [request.values, request.globals],
        async plan() {
          const { level, command } = await derive()
          return toPlan(call, command, level, options)
        },
        async run(controls) {
          const { level, command } = await derive()
          const traced = withTrace(command, controls)
          if (level !== 'limited') return runInSandbox(call, level, { command: traced, options, controls })
          return (await loadRunHere())(traced, controls)
        },
      }
    },
  })
}

const withTrace = (command: PreparedCommand, { traceparent }: RunControls): PreparedCommand =>
  traceparent === undefined ? command : { ...command, env: { ...command.env, TRACEPARENT: traceparent } }

/** The level that a tool requests; undefined for the best available. */
function wantedLevel(config: ResolvedTool, tool: RunnableTool, options: CliExecutorOptions): Level | undefined {
  const { scope, limited = [], where } = options
  const { isolation } = config.tool
  if (isolation === 'isolated' || isolation === 'confined') return isolation
  if (scope === 'user' || where?.()?.type === 'docker') return 'limited'
  return isolation === 'limited' || isLimited(tool, limited) ? 'limited' : undefined
}

/** Whether the operator runs the tool without a sandbox. */
const isLimited = ({ config }: RunnableTool, limited: readonly string[]): boolean =>
  limited.includes('*') || (config !== undefined && limited.includes(config))

/** The reason why a tool of a service cannot run at its level; undefined if it can. */
function levelProblem(config: ResolvedTool, tool: RunnableTool, options: CliExecutorOptions): Readiness | undefined {
  const { scope, sandbox, limited = [], where } = options
  if (scope === 'user' || where?.()?.type === 'docker' || isLimited(tool, limited)) return undefined
  const readiness = sandbox?.readiness(wantedLevel(config, tool, options))
  return readiness?.state === 'ready' ? undefined : readiness
}

async function levelFor(call: CliCall, options: CliExecutorOptions): Promise<Level> {
  const { config, tool } = call
  const { scope, sandbox, limited = [], where } = options
  const wanted = levelOf(call, wantedLevel(config, tool, options))
  const allowed = scope === 'user' || isLimited(tool, limited) || where?.()?.type === 'docker'
  if (wanted === 'limited' && allowed) return wanted
  if (sandbox === undefined)
    throw new TooldexError('UNAVAILABLE', `${tool.name} requires a sandbox, which is not available here.`, {
      hint: 'Call it through a server: tooldex serve',
    })
  if (wanted === 'limited' && tool.config !== undefined && sandbox.readiness('limited').state !== 'ready')
    throw new TooldexError(
      'POLICY_REFUSED',
      `${tool.name} requests the isolation level limited, which is not allowed for it.`,
      {
        hint: `The operator of the server can allow it: tooldex serve --limited ${tool.config}`,
      },
    )
  return sandbox.levelFor(tool.name, wanted)
}

/** The level of a tool of a service, as far as it is known without a self-test. */
function knownLevel(config: ResolvedTool, tool: RunnableTool, options: CliExecutorOptions): Isolation | undefined {
  if (options.scope === 'user') return undefined
  return wantedLevel(config, tool, options) ?? options.sandbox?.levels.known
}

/** The parts of a run in a sandbox. */
interface Sandboxed {
  readonly command: PreparedCommand
  readonly options: CliExecutorOptions
  readonly controls: RunControls
}

async function runInSandbox(
  call: CliCall,
  level: Level,
  { command, options, controls }: Sandboxed,
): Promise<RunOutcome> {
  const { sandbox } = options
  if (sandbox === undefined || command.container !== undefined)
    throw new TooldexError('UNAVAILABLE', `${call.tool.name} requires a sandbox, which is not available here.`, {
      hint: 'Call it through a server whose policy does not run commands in containers.',
    })
  const { runSandboxedCommand } = await loadRunSandboxed()
  return runSandboxedCommand({ ...command, call, level }, sandbox, controls)
}

function toPlan(call: CliCall, command: PreparedCommand, isolation: Level, { sandbox }: CliExecutorOptions): RunPlan {
  const { argv, cwd, folders, env, stdin, timeoutMs } = command
  const details = { argv: [...argv], cwd: cwd ?? null, env: Object.keys(env).sort(), stdin: stdin !== undefined }
  const common = { kind: 'cli', isolation, timeoutMs, ...details } as const
  if (isolation === 'limited' || sandbox === undefined) return common
  const visible = folders.map(({ path, writable }) => `${path}:${writable ? 'rw' : 'ro'}`)
  return { ...common, folders: visible, network: commandUsesNetwork(call.tool, sandbox) }
}

const blank = { name: '', description: '', tags: [], exampleRequests: [], category: null, annotations: undefined }

/** The config of a registered CLI tool, in the form that a tool of a config has. */
const CliTool = CliExecutorConfig.transform((config): ResolvedTool => {
  const { baseCommand, globalArgs, env, workingDir, timeoutMs, worker: _worker, limits: _limits, ...own } = config
  const timeout = own.timeout ?? (timeoutMs === undefined ? null : timeoutMs / 1000)
  return {
    tool: { ...blank, ...own, timeout },
    baseCommand,
    globalArgs,
    env,
    workingDir,
    descriptionOverride: null,
    argConstraints: {},
  }
})

/** The settings of the search for programs. */
interface ProgramReadinessOptions {
  readonly env: Environment
  readonly where?: (() => ExecutorChoice | undefined) | undefined
  readonly now?: (() => number) | undefined
}

/** The cache limits; entries are short-lived, so that a newly installed program is found soon. */
const limits = { maxEntries: 500, ttlMs: 5000 }

/** Checks whether the program of a tool is installed; results are cached for a few seconds. */
export class ProgramReadiness {
  readonly #options: ProgramReadinessOptions
  readonly #now: () => number
  readonly #cache = new BoundedMap<string, { readonly readiness: Readiness; readonly until: number }>(limits.maxEntries)

  constructor(options: ProgramReadinessOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  of({ baseCommand, tool, env, workingDir }: ResolvedTool): Readiness {
    // With containers, docker must be installed; the content of the image cannot be checked.
    const own = baseCommand.trim() === '' ? tool.command : baseCommand
    const command = this.#options.where?.()?.type === 'docker' ? 'docker' : own
    const key = [command, env.PATH ?? '', workingDir ?? ''].join('\0')
    const cached = this.#cache.get(key)
    if (cached !== undefined && cached.until > this.#now()) return cached.readiness
    const readiness = this.#find(command, env.PATH, workingDir)
    this.#cache.set(key, { readiness, until: this.#now() + limits.ttlMs })
    return readiness
  }

  #find(command: string, path: string | undefined, workingDir: string | null): Readiness {
    const { env } = this.#options
    let word = command
    try {
      word = splitCommandWords(command, env)[0] ?? ''
      const folder = workingDir === null ? '.' : expandHome(expandVariables(workingDir, env).text, env)
      const own = path === undefined ? env : { ...env, PATH: expandVariables(path, env, 'braced').text }
      findProgram(word, own, resolve(folder))
      return ready
    } catch (error) {
      return { state: 'needs-program', reason: toStartError(error, word).message }
    }
  }
}
