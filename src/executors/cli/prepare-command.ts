import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import { type Environment, expandHome, expandVariables } from '../../base/expand-variables.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { type ArgDef, isList, itemType, type Scalar } from '../../contract/cli-config.ts'
import type { ArgValue, ArgValues, Job, RunnableTool } from '../../contract/executor.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'
import type { ResolvedTool } from '../../contract/tool-index.ts'
import { isOwnVariable } from '../../rules/settings.ts'
import type { Call } from '../define-executor.ts'
import { baseEnvironment, isBaseVariable } from '../process/base-environment.ts'
import { checkPath } from '../process/check-path.ts'
import { type AllowedFolder, folderOf, isIn } from '../sandbox/allowed-folders.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { Level } from '../sandbox/sandbox-config.ts'
import { allowFolderHint, resolveExistingPath, visibleTarget } from '../sandbox/visible-program.ts'
import { buildArgv } from './build-argv.ts'
import { coerceArguments } from './coerce-arguments.ts'

/** The settings that commands are built from, besides their tools. */
export interface CommandSettings {
  readonly env: Environment
  /** `user` inherits the environment of the caller; `service` only a small base. */
  readonly scope: EnvironmentScope
  /** The executor choice of the current policy: this machine, or a container. */
  readonly where?: (() => ExecutorChoice | undefined) | undefined
  /** Runs the tools that need a sandbox; without it they are rejected. */
  readonly sandbox?: Sandbox | undefined
}

/** A command that is ready to be started. */
export interface PreparedCommand {
  readonly argv: readonly string[]
  /** The working folder; undefined for a fresh folder in a sandbox. */
  readonly cwd: string | undefined
  /** The folders of the machine that are visible in the sandbox. */
  readonly folders: readonly AllowedFolder[]
  readonly env: Record<string, string>
  readonly stdin: string | undefined
  readonly timeoutMs: number
  readonly container: string | undefined
}

/** A call of a command. */
export type CliCall = Call<ResolvedTool>

/** A call with its arguments validated and converted as the tool declares them. */
export interface RunRequest {
  readonly tool: ResolvedTool
  readonly values: ArgValues
  /** The values of the config's global arguments. */
  readonly globals: ArgValues
  /** The variables that the call may use: without the grant `env`, only the small base. */
  readonly available: Environment
}

/** Validates and converts the arguments of a call, once. */
export function prepareRunRequest({ config: tool, input, grants }: CliCall, env: Environment): RunRequest {
  const available = grants === undefined || grants.includes('env') ? env : baseEnvironment(env)
  const values = coerceArguments(tool.tool.args, input)
  return { tool, values, globals: globalArgumentValues(tool.globalArgs, available), available }
}

/** The arguments, folder, environment and stdin of a call at an isolation level. */
export function prepareCommand(
  call: CliCall,
  request: RunRequest,
  level: Level,
  settings: CommandSettings,
): PreparedCommand {
  const { available, tool } = request
  const { cwd, folders, root } = locate(call, request, level, settings.sandbox)
  // Without a working folder of the machine, paths begin in the private folder of the sandbox.
  const isPrivate = (folder: string) => cwd === undefined && isIn(folder, '/work')
  const requireVisible = (folder: string) => {
    if (level !== 'limited' && !isPrivate(folder)) visibleTarget(folders, folder)
  }
  checkPaths(tool.tool.args, request.values, { cwd: cwd ?? '/work', root, env: available, requireVisible })
  const env = childEnvironment(tool, available, settings.scope)
  const stdin = readValue(request, (arg) => arg.stdin)
  const commandArguments = buildArgv(request, available)
  const common = { cwd, folders, env, stdin, timeoutMs: call.deadlineMs }
  const where = settings.where?.()
  if (where?.type !== 'docker') return { ...common, argv: commandArguments, container: undefined }
  const container = `tooldex-${randomBytes(6).toString('hex')}`
  const prefix = dockerPrefix(where, { container, stdin: stdin !== undefined, env: Object.keys(tool.env) }, available)
  return { ...common, argv: [...prefix, ...commandArguments], container }
}

/** The working folder and the visible folders of a command: in a sandbox, only those that the operator allows. */
function locate({ tool, grants }: CliCall, request: RunRequest, level: Level, sandbox: Sandbox | undefined) {
  const { available: env } = request
  const declaredRoot = request.tool.tool.root
  const root = declaredRoot === undefined ? undefined : toFolder(declaredRoot, env)
  const requested = requestedFolder(request) ?? (root === undefined ? undefined : { path: root, spelling: root })
  if (level === 'limited') {
    const cwd = requested === undefined ? process.cwd() : checkedFolder(requested.path)
    return { cwd, folders: [], root: root === undefined ? root : checkedFolder(root) }
  }
  const folders = sandbox === undefined ? [] : visibleFolders(tool.name, grants, sandbox, root)
  const current = folderOf(process.cwd(), folders) === undefined ? undefined : process.cwd()
  if (requested === undefined) return { cwd: current, folders, root }
  return { cwd: checkedFolder(visibleTarget(folders, requested.path, requested.spelling)), folders, root }
}

/** The working folder that a call or its tool names, and how it was spelled. */
function requestedFolder(request: RunRequest) {
  const { available: env, tool } = request
  const { workingDir } = tool
  const value = readValue(request, (arg) => arg.cwd)
  // Only configs may use variables: the error about a missing folder would show a caller the value.
  if (value !== undefined) return { path: resolve(expandHome(value, env)), spelling: value }
  if (workingDir === null) return undefined
  const path = toFolder(workingDir, env)
  return { path, spelling: path }
}

const toFolder = (text: string, env: Environment): string => resolve(expandHome(expandVariables(text, env).text, env))

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

function readValue({ tool, values }: RunRequest, matches: (arg: ArgDef) => boolean): string | undefined {
  const arg = tool.tool.args.find(matches)
  const value = arg === undefined ? undefined : values.get(arg.name)
  return value === undefined ? undefined : String(value)
}

/** The values of a config's global arguments: their defaults with variables expanded; an argument with an unset variable is omitted. */
export function globalArgumentValues(globalArgs: readonly ArgDef[], env: Environment): ArgValues {
  const values = new Map<string, ArgValue>()
  for (const arg of globalArgs) {
    if (arg.default == null) continue
    const expanded = [arg.default].flat().map((value) => (typeof value === 'string' ? expand(value, env) : value))
    const present = expanded.filter((value): value is Scalar => value !== undefined && value !== '')
    const [first] = present
    if (first !== undefined) values.set(arg.name, isList(arg) ? present : first)
  }
  return values
}

// Compatible with CLImax: omitted if no variable could be expanded, otherwise unset variables stay as written.
function expand(value: string, env: Environment): string | undefined {
  const { text, missing } = expandVariables(value, env)
  return missing.length > 0 && text === value ? undefined : text
}

/** The part of a container's settings that depends on the call. */
interface DockerCall {
  readonly container: string
  readonly stdin: boolean
  /** Names only: docker reads the values from its own environment. */
  readonly env: readonly string[]
}

/** The arguments that run a command in a fresh container; an unset variable in a volume stays as written. */
function dockerPrefix(choice: ExecutorChoice, call: DockerCall, env: Environment): readonly string[] {
  return [
    ...['docker', 'run', '--rm', '--name', call.container],
    ...(call.stdin ? ['-i'] : []),
    ...call.env.flatMap((name) => ['-e', name]),
    ...choice.volumes.flatMap((volume) => ['-v', expandVariables(volume, env).text]),
    ...(choice.network === undefined ? [] : ['--network', choice.network]),
    ...(choice.workingDir === undefined ? [] : ['-w', choice.workingDir]),
    choice.image ?? '',
  ]
}

/** The environment that a command inherits from: all of the user's, or the small base of a service. */
type EnvironmentScope = 'user' | 'service'

/** The environment of a command: inherited as the config allows, without the variables of Tooldex, plus those the config sets. */
function childEnvironment(tool: ResolvedTool, parent: Environment, scope: EnvironmentScope): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(parent)) {
    if (value !== undefined && isInherited(name, tool.tool.inheritEnv, scope) && !isOwnVariable(name)) env[name] = value
  }
  for (const [name, value] of Object.entries(tool.env)) env[name] = expandVariables(value, parent, 'braced').text
  return env
}

function isInherited(name: string, inherit: boolean | readonly string[] | undefined, scope: EnvironmentScope): boolean {
  if (isBaseVariable(name)) return true
  if (typeof inherit === 'object') return inherit.includes(name)
  return scope === 'user' && inherit !== false
}

/** The base and the boundary of the paths of a call. */
interface PathBounds {
  readonly cwd: string
  /** The root of an argument that has none of its own. */
  readonly root?: string | undefined
  readonly env: Environment
  /** Throws if a folder cannot be the boundary of paths. */
  readonly requireVisible: (folder: string) => void
}

/** Rejects a path argument that leads out of its root, after following links. */
function checkPaths(args: readonly ArgDef[], values: ArgValues, { cwd, root, env, requireVisible }: PathBounds): void {
  for (const arg of args) {
    const value = values.get(arg.name)
    if (value === undefined || (itemType(arg) !== 'path' && !(arg.cwd && root !== undefined))) continue
    // The working folder is relative to the folder of this process; all other paths are relative to the working folder.
    const from = arg.cwd ? process.cwd() : cwd
    const bound = arg.root === undefined ? root : resolve(from, expandHome(expandVariables(arg.root, env).text, env))
    if (bound === undefined) continue
    requireVisible(bound)
    for (const item of arg.cwd ? [cwd] : [value].flat()) checkPath(arg.name, String(item), bound, from)
  }
}

/** The visible folders of a job: the root of its config if it has one, else all allowed folders. */
function visibleFolders(
  name: string,
  grants: Job['grants'],
  sandbox: Sandbox,
  root?: string,
): readonly AllowedFolder[] {
  const allowed = grants === undefined || grants.includes('folders') ? sandbox.folders : []
  if (root === undefined) return allowed
  const path = resolveExistingPath(root) ?? root
  const folder = folderOf(path, allowed)
  if (folder !== undefined) return [{ path, writable: folder.writable }]
  throw new TooldexError('POLICY_REFUSED', `${name} works in ${root}, which is not visible to tools on this server.`, {
    hint: allowFolderHint(root),
  })
}

/** Whether a run has network access: where it is not allowed, a tool of a config runs without, and any other tool is rejected. */
export function commandUsesNetwork(tool: RunnableTool, sandbox: Sandbox): boolean {
  if (tool.resolved !== undefined) return tool.resolved.tool.network === true && sandbox.allowsNetwork
  return sandbox.networkFor(tool.name, tool.executorConfig.network as boolean | undefined)
}
