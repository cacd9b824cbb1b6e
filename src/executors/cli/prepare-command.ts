import { randomBytes } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import { type Environment, expandHome, expandVariables } from '../../base/expand-variables.ts'
import { toOneLine } from '../../base/visible-text.ts'
import type { ArgDef } from '../../contract/cli-config.ts'
import type { Job } from '../../contract/executor.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'
import { baseEnvironment } from '../process/base-environment.ts'
import type { ProcessLimits } from '../process/limits.ts'
import { type AllowedFolder, folderOf } from '../sandbox/allowed-folders.ts'
import type { Level } from '../sandbox/level.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { buildArgv } from './build-argv.ts'
import { checkPaths } from './check-paths.ts'
import { childEnvironment, type EnvironmentScope } from './child-environment.ts'
import { coerceArguments } from './coerce-arguments.ts'
import { dockerPrefix } from './docker-prefix.ts'
import { globalValues } from './global-values.ts'
import { resolveTool } from './resolve-tool.ts'
import type { RunRequest } from './run-request.ts'
import { visibleFolders } from './sandbox-shape.ts'

/** What commands are made from besides their tools. */
export interface CommandSettings {
  readonly env: Environment
  /** `user` passes the caller's own environment on; `service` only a small base. */
  readonly scope: EnvironmentScope
  /** Here, or in a container: what the policy in force says now. */
  readonly where?: (() => ExecutorChoice | undefined) | undefined
  /** Where tools run that get a sandbox; refused where there is none. */
  readonly sandbox?: Sandbox | undefined
}

/** A command that is ready to be started. */
export interface PreparedCommand {
  readonly argv: readonly string[]
  /** Where it starts; a fresh folder where it is in a sandbox and no folder was named. */
  readonly cwd: string | undefined
  /** The folders of the machine that it sees in a sandbox. */
  readonly folders: readonly AllowedFolder[]
  readonly env: Record<string, string>
  readonly stdin: string | undefined
  readonly timeoutMs: number
  readonly container: string | undefined
}

// A timer set for longer than this fires at once.
const maxTimerMs = 2 ** 31 - 1

/** The variables that a job may use: a workspace that was not granted those of the server has the small base. */
export const environmentOf = ({ grants }: Job, env: Environment): Environment =>
  grants === undefined || grants.includes('env') ? env : baseEnvironment(env)

/** A call with its arguments read as the tool declares them. */
export function toRequest({ tool, input }: Job, env: Environment): RunRequest {
  const resolved = resolveTool(tool)
  return {
    tool: resolved,
    values: coerceArguments(resolved.tool.args, input),
    globals: globalValues(resolved.globalArgs, env),
  }
}

/** What was asked for binds, as far as the tool allows. */
export function deadlineOf({ tool, timeoutMs }: Job, limits: ProcessLimits): number {
  const { timeout } = resolveTool(tool).tool
  const own = timeout ? Math.round(timeout * 1000) : limits.timeoutMs
  return Math.min(timeoutMs ?? own, maxTimerMs)
}

/** The words, folder, variables and input of a job at a level. */
export function prepareCommand(
  job: Job,
  level: Level,
  settings: CommandSettings,
  limits: ProcessLimits,
): PreparedCommand {
  const given = environmentOf(job, settings.env)
  const request = toRequest(job, given)
  const { tool } = request.tool
  const { cwd, folders, root } = placeOf(job, request, { level, env: given, sandbox: settings.sandbox })
  checkPaths(tool.args, request.values, { cwd: cwd ?? '/work', root, env: given })
  const own = childEnvironment(request.tool, given, settings.scope)
  const env = job.traceparent === undefined ? own : { ...own, TRACEPARENT: job.traceparent }
  const stdin = readValue(request, (arg) => arg.stdin)
  const words = buildArgv(request, given)
  const common = { cwd, folders, env, stdin, timeoutMs: deadlineOf(job, limits) }
  const where = settings.where?.()
  if (where?.type !== 'docker') return { ...common, argv: words, container: undefined }
  const container = `tooldex-${randomBytes(6).toString('hex')}`
  const call = { container, stdin: stdin !== undefined, env: Object.keys(request.tool.env) }
  return { ...common, argv: [...dockerPrefix(where, call, given), ...words], container }
}

interface PlaceOptions {
  readonly level: Level
  readonly env: Environment
  readonly sandbox: Sandbox | undefined
}

/** Where a command starts, and what it sees of the machine: in a sandbox only folders that the operator allows. */
function placeOf(job: Job, request: RunRequest, { level, env, sandbox }: PlaceOptions) {
  const declaredRoot = request.tool.tool.root
  const root = declaredRoot === undefined ? undefined : toFolder(declaredRoot, env)
  const asked = askedDir(request, env) ?? root
  if (level === 'limited') return { cwd: asked ?? process.cwd(), folders: [], root }
  const folders = sandbox === undefined ? [] : visibleFolders(job, sandbox, root && realpathSync(root))
  const here = folderOf(process.cwd(), folders) === undefined ? undefined : process.cwd()
  return { cwd: asked === undefined ? here : realpathSync(asked), folders, root }
}

function askedDir(request: RunRequest, env: Environment): string | undefined {
  const { workingDir } = request.tool
  const value = readValue(request, (arg) => arg.cwd)
  // Variables are for the config to use: a caller who named one would read it in the error about a missing folder.
  if (value !== undefined) return checkedFolder(resolve(expandHome(value, env)))
  return workingDir === null ? undefined : toFolder(workingDir, env)
}

const toFolder = (text: string, env: Environment): string =>
  checkedFolder(resolve(expandHome(expandVariables(text, env).text, env)))

function checkedFolder(path: string): string {
  const problem = folderProblem(path)
  if (problem === undefined) return path
  throw new TooldexError('WORKING_DIR_INVALID', `The folder ${toOneLine(path).slice(0, 200)} ${problem}.`)
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
