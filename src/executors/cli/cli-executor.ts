import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import { type Environment, expandHome, expandVariables } from '../../base/expand-variables.ts'
import { toOneLine } from '../../base/visible-text.ts'
import type { ArgDef } from '../../contract/cli-config.ts'
import type { Executor, Job, RunControls } from '../../contract/executor.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'
import type { Isolation, RunPlan } from '../../contract/run.ts'
import { type Containment, detectContainment } from '../process/containment.ts'
import { limitOwnProcess } from '../process/limit-own-process.ts'
import { defaultLimits, type ProcessLimits } from '../process/limits.ts'
import { ProgramFinder } from '../process/program-finder.ts'
import { runProcess } from '../process/run-process.ts'
import { toOutcome, toStartError } from '../process/to-outcome.ts'
import type { Level } from '../sandbox/levels.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { buildArgv } from './build-argv.ts'
import { checkPaths } from './check-paths.ts'
import { childEnvironment, type EnvironmentScope } from './child-environment.ts'
import { coerceArguments } from './coerce-arguments.ts'
import { dockerPrefix } from './docker-prefix.ts'
import { globalValues } from './global-values.ts'
import { ProgramReadiness } from './program-readiness.ts'
import { resolveTool } from './resolve-tool.ts'
import type { RunRequest } from './run-request.ts'

/** How commands are run. */
export interface CliExecutorOptions {
  readonly env: Environment
  /** `user` passes the caller's own environment on; `service` only a small base. */
  readonly scope: EnvironmentScope
  readonly limits?: Partial<ProcessLimits> | undefined
  /** Here, or in a container: what the policy in force says now. */
  readonly where?: (() => ExecutorChoice | undefined) | undefined
  /** Bounds the size of files written by this process and everything it starts: for a process that is Tooldex alone. */
  readonly limitFiles?: boolean | undefined
  /** How processes are kept together; the strongest way the machine gives where absent. */
  readonly containment?: Containment | undefined
  /** Where tools run that ask for a sandbox; refused where there is none. */
  readonly sandbox?: Sandbox | undefined
}

/** Runs the commands that YAML configs describe. */
export function createCliExecutor(options: CliExecutorOptions): Executor {
  const limits = { ...defaultLimits, ...options.limits }
  let containment = options.containment
  let limited: Promise<void> | undefined
  const programs = new ProgramFinder()
  const readiness = new ProgramReadiness(options)
  return {
    kind: 'cli',
    readiness: (tool) => readiness.of(resolveTool(tool)),
    boundValues(job) {
      const { values, globals } = toRequest(job, options.env)
      // Values nobody typed are bound as well: a default or a global argument is no way round a policy.
      return [values, globals]
    },
    deadlineMs: (job) => deadlineOf(job, limits),
    plan: (job) => toPlan(prepare(job, options, limits), askedLevel(job)),
    async run(job, controls) {
      const prepared = prepare(job, options, limits)
      const level = askedLevel(job)
      if (level !== 'limited') return walled(job, level, { prepared, options, controls })
      if (options.limitFiles) limited ??= limitOwnProcess(limits)
      await limited
      try {
        containment ??= detectContainment()
        const program = programs.find(prepared.argv[0] ?? '', prepared.env, prepared.cwd)
        const process = { ...prepared, program }
        const end = await runProcess(process, limits, await containment.start(limits.processes), controls)
        if (end.stopped !== null && prepared.container !== undefined) removeContainer(prepared.container)
        return toOutcome(end, process, limits.outputFactor)
      } catch (error) {
        throw toStartError(error, prepared.argv[0] ?? '')
      }
    },
  }
}

function askedLevel({ tool }: Job): Level {
  const { isolation } = tool.executorConfig
  return isolation === 'isolated' || isolation === 'confined' ? isolation : 'limited'
}

/** What a run in a sandbox is made of. */
interface Walled {
  readonly prepared: Prepared
  readonly options: CliExecutorOptions
  readonly controls: RunControls
}

async function walled({ tool }: Job, level: Level, { prepared, options, controls }: Walled) {
  const { sandbox } = options
  if (sandbox === undefined || prepared.container !== undefined)
    throw new TooldexError('UNAVAILABLE', `${tool.name} asks for a sandbox, and there is none for it here.`, {
      hint: 'Call it through a server, and under no policy that puts commands into containers.',
    })
  // Most processes never need it.
  const { runWalled } = await import('./run-walled.ts')
  const cwd = prepared.cwdGiven ? prepared.cwd : undefined
  const declared = Object.keys(resolveTool(tool).env)
  return runWalled({ ...prepared, tool, level, cwd, declared }, sandbox, controls)
}

// A timer set for longer than this fires at once.
const longestTimerMs = 2 ** 31 - 1

interface Prepared {
  readonly argv: readonly string[]
  readonly cwd: string
  /** Whether a tool or caller named the folder. */
  readonly cwdGiven: boolean
  readonly env: Record<string, string>
  readonly stdin: string | undefined
  readonly timeoutMs: number
  readonly container: string | undefined
}

const toRequest = ({ tool, input }: Job, env: Environment): RunRequest => {
  const resolved = resolveTool(tool)
  return {
    tool: resolved,
    values: coerceArguments(resolved.tool.args, input),
    globals: globalValues(resolved.globalArgs, env),
  }
}

/** What was asked for binds, as far as the tool allows. */
function deadlineOf({ tool, timeoutMs }: Job, limits: ProcessLimits): number {
  const { timeout } = resolveTool(tool).tool
  const own = timeout ? Math.round(timeout * 1000) : limits.timeoutMs
  return Math.min(timeoutMs ?? own, longestTimerMs)
}

function prepare(job: Job, options: CliExecutorOptions, limits: ProcessLimits): Prepared {
  const request = toRequest(job, options.env)
  const { tool } = request.tool
  const asked = askedDir(request, options.env)
  const cwd = asked ?? process.cwd()
  const cwdGiven = asked !== undefined
  checkPaths(tool.args, request.values, cwd, options.env)
  const own = childEnvironment(request.tool, options.env, options.scope)
  const env = job.traceparent === undefined ? own : { ...own, TRACEPARENT: job.traceparent }
  const stdin = readValue(request, (arg) => arg.stdin)
  const words = buildArgv(request, options.env)
  const timeoutMs = deadlineOf(job, limits)
  const where = options.where?.()
  if (where?.type !== 'docker') return { argv: words, cwd, cwdGiven, env, stdin, timeoutMs, container: undefined }
  const container = `tooldex-${randomBytes(6).toString('hex')}`
  const call = { container, stdin: stdin !== undefined, env: Object.keys(request.tool.env) }
  const argv = [...dockerPrefix(where, call, options.env), ...words]
  return { argv, cwd, cwdGiven, env, stdin, timeoutMs, container }
}

function toPlan({ argv, cwd, env, stdin, timeoutMs }: Prepared, isolation: Isolation): RunPlan {
  const command = { argv: [...argv], cwd, env: Object.keys(env).sort(), stdin: stdin !== undefined }
  return { kind: 'cli', isolation, timeoutMs, ...command }
}

function askedDir(request: RunRequest, env: Environment): string | undefined {
  const { workingDir: declared } = request.tool
  // Variables are for the config to use: a caller who named one would read it in the error about a missing folder.
  const asked = readValue(request, (arg) => arg.cwd) ?? (declared === null ? null : expandVariables(declared, env).text)
  if (asked === null) return undefined
  const cwd = resolve(expandHome(asked, env))
  const problem = folderProblem(cwd)
  if (problem === undefined) return cwd
  throw new TooldexError('WORKING_DIR_INVALID', `The folder ${toOneLine(cwd).slice(0, 200)} ${problem}.`)
}

function folderProblem(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? undefined : 'is not a folder'
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? 'does not exist' : `cannot be used (${code})`
  }
}

function readValue({ tool, values }: RunRequest, which: (arg: ArgDef) => boolean): string | undefined {
  const arg = tool.tool.args.find(which)
  const value = arg === undefined ? undefined : values.get(arg.name)
  return value === undefined ? undefined : String(value)
}

/** Killing the docker client can leave its container running; the engine is asked to end it. */
function removeContainer(name: string): void {
  spawn('docker', ['rm', '--force', name], { stdio: 'ignore', timeout: 10_000 }).on('error', () => {})
}
