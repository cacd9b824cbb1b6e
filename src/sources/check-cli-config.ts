import { type Environment, expandVariables } from '../base/expand-variables.ts'
import { hasInvisible, showInvisible } from '../base/invisible-characters.ts'
import { findOpenQuote, splitWords } from '../base/split-words.ts'
import { type ArgDef, type CliConfig, isList, itemType, type Scalar, type ToolDef } from '../contract/cli-config.ts'
import type { Dependents } from '../diagnostics/diagnose.ts'
import type { Finding } from '../diagnostics/finding.ts'
import { formatIssuePath } from '../diagnostics/zod-issues.ts'
import { refusedKeys } from '../documents/yaml-document.ts'
import { type KeyShape, sameYamlKeys } from '../documents/yaml-keys.ts'

/** Contradictions between well-formed fields of a config; those that CLImax accepts are tolerated. `env` is checked where it is known. */
export function checkConfig(config: CliConfig, env?: Environment): readonly Finding[] {
  return [
    ...checkProgram(config),
    ...checkQuotes(config.command, ['command']),
    ...(env === undefined ? [] : checkCliEnvironment(config, env)),
    ...checkArgs(config.globalArgs, ['globalArgs'], { global: true }),
    ...checkNames(config.globalArgs, ['globalArgs']),
    ...checkNames(config.tools, ['tools']),
    ...config.tools.flatMap((tool, index) => checkTool(tool, ['tools', index])),
    ...checkTexts(config, []),
  ]
}

function checkTool(tool: ToolDef, path: readonly PropertyKey[]): readonly Finding[] {
  const args = [...path, 'args']
  return [
    ...checkQuotes(tool.command, [...path, 'command']),
    ...checkArgs(tool.args, args),
    ...checkNames(tool.args, args),
  ]
}

/** The program may be missing in the config if its tools name one. */
function checkProgram({ command, tools }: CliConfig): readonly Finding[] {
  if (splitWords(command).length > 0) return []
  const without = tools.flatMap((tool, index) => (splitWords(tool.command).length > 0 ? [] : [index]))
  if (without.length === tools.length) return [{ path: ['command'], message: 'command must name a program' }]
  const message = 'command is empty, so each tool must name its program'
  return [
    { path: ['command'], message, hint: 'name a program', tolerated: true },
    ...without.map((index): Finding => {
      const path = ['tools', index]
      return { path, message: 'the tool has no command to run', hint: 'name a program', tolerated: true }
    }),
  ]
}

function checkQuotes(command: string, path: readonly PropertyKey[]): readonly Finding[] {
  const quote = findOpenQuote(command)
  if (quote === undefined) return []
  const message = `${formatIssuePath(path)}: a ${quote} is never closed, so quotes are ignored and it is split at spaces`
  return [{ path, message, hint: 'close the quotes', tolerated: true }]
}

function checkNames(named: readonly { readonly name: string }[], path: readonly PropertyKey[]): readonly Finding[] {
  return named.flatMap(({ name }, index): readonly Finding[] => {
    if (name !== '') return []
    const at = [...path, index, 'name']
    return [
      { path: at, message: `${formatIssuePath(at)} is empty, so it cannot be used`, hint: 'name it', tolerated: true },
    ]
  })
}

/** The part of the check that depends on the environment. */
export function checkCliEnvironment({ env: values }: CliConfig, env: Environment): readonly Finding[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = ['env', name]
    const odd: Finding = { path, message: `env.${name} is not a variable name`, tolerated: true }
    const missing = expandVariables(value, env, 'braced').missing.map((variable) => ({
      path,
      message: `env.${name} needs the environment variable ${variable}, which is not set`,
      hint: `set ${variable}, or write \${${variable}:-default}`,
    }))
    return [...(/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [] : [odd]), ...missing]
  })
}

/** Texts for models must not contain characters that are invisible to a reviewer. */
function checkTexts(value: unknown, path: readonly PropertyKey[]): readonly Finding[] {
  if (typeof value === 'string') {
    if (!hasInvisible(value)) return []
    const shown = showInvisible(value).slice(0, 80)
    const message = `${formatIssuePath(path)} has invisible characters: ${JSON.stringify(shown)}`
    return [{ path, message, hint: 'remove them', severity: 'warning' }]
  }
  if (typeof value !== 'object' || value === null) return []
  const entries: [PropertyKey, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return entries.flatMap(([key, held]) => checkTexts(held, [...path, key]))
}

/** An argument of an unknown type cannot be checked. */
export const dependentsOfArg: Dependents = (path) =>
  ['type', 'items', 'repeat'].includes(path.at(-1) ?? '') ? [path.slice(0, -1)] : []

/** Returns the contradictions in a list of arguments; those that CLImax accepts are tolerated. */
function checkArgs(
  args: readonly ArgDef[],
  path: readonly PropertyKey[],
  { global = false }: { global?: boolean } = {},
): readonly Finding[] {
  const findings = args.flatMap((arg, index) => checkArg(arg, [...path, index], global))
  return [...findings, ...checkUniqueness(args, path)]
}

function checkArg(arg: ArgDef, path: readonly PropertyKey[], global: boolean): Finding[] {
  const found: Finding[] = []
  const reportAs =
    (tolerated: boolean): Report =>
    (key, message, hint) =>
      found.push({
        path: [...path, key],
        message: `argument '${arg.name}': ${message}`,
        tolerated,
        ...(hint === undefined ? {} : { hint }),
      })
  const refuse = reportAs(false)
  const tolerate = reportAs(true)

  if (refusedKeys.has(arg.name)) refuse('name', 'this name is reserved', 'choose another name')
  const roles = [arg.positional !== false && 'positional', arg.cwd && 'cwd', arg.stdin && 'stdin'].filter(Boolean)
  if (roles.length > 1) tolerate(String(roles[1]), `is both ${roles.join(' and ')}`, 'keep one of them')
  if (arg.positional !== false && arg.flag != null)
    tolerate('flag', 'is positional and has a flag, which is not used', 'keep one of them')
  if (arg.required && arg.default != null)
    tolerate('default', 'is required and has a default, which is not used', 'drop one of them')
  if (arg.root !== undefined && itemType(arg) !== 'path')
    refuse('root', "has a root but is not of type 'path'", 'type: path')
  if (arg.items !== undefined && arg.type !== 'array')
    refuse('items', "has items but is not of type 'array'", 'type: array')
  if ((arg.cwd || arg.stdin) && isList(arg)) refuse('repeat', 'is an array, but cwd and stdin take a single value')
  if (isList(arg) && itemType(arg) === 'boolean')
    refuse('type', 'is an array of booleans, which a command line cannot express')
  if (arg.enum != null) checkEnum(arg, tolerate)
  if (arg.default != null && !global) checkDefault(arg, refuse, tolerate)
  return found
}

type Report = (key: string, message: string, hint?: string) => void

function checkEnum(arg: ArgDef, tolerate: Report): void {
  const values = arg.enum ?? []
  const wrong = values.find((value) => !fits(value, arg))
  if (wrong !== undefined) tolerate('enum', `enum value ${JSON.stringify(wrong)} is not of type ${itemType(arg)}`)
  if (new Set(values).size < values.length) tolerate('enum', 'lists a value twice')
}

/** An invalid scalar is passed on unchanged, as in CLImax; an array has no such form, so it is rejected. */
function checkDefault(arg: ArgDef, refuse: Report, tolerate: Report): void {
  const value = arg.default as Scalar | Scalar[]
  if (Array.isArray(value) && !isList(arg)) {
    refuse('default', 'has an array as default but takes a single value', 'add repeat: true')
    return
  }
  const report = isList(arg) ? refuse : tolerate
  for (const item of Array.isArray(value) ? value : [value]) {
    if (!fits(item, arg)) report('default', `default ${JSON.stringify(item)} is not of type ${itemType(arg)}`)
    else if (arg.enum != null && arg.enum.length > 0 && !arg.enum.some((allowed) => String(allowed) === String(item))) {
      report('default', `default ${JSON.stringify(item)} is not one of: ${arg.enum.join(', ')}`)
    }
  }
}

/** Whether a value has the type of the argument; a string that parses as that type is accepted, as in a call. */
function fits(value: Scalar, arg: ArgDef): boolean {
  const type = itemType(arg)
  if (type === 'string' || type === 'path') return true
  if (type === 'boolean') return typeof value === 'boolean' || /^(true|false)$/i.test(String(value))
  const number = typeof value === 'boolean' ? Number.NaN : Number(value)
  return type === 'integer' ? Number.isInteger(number) : Number.isFinite(number)
}

function checkUniqueness(args: readonly ArgDef[], path: readonly PropertyKey[]): readonly Finding[] {
  const found: Finding[] = []
  const seen = new Map<string, number>()
  const once = (key: string, index: number, field: string, message: string) => {
    if (seen.has(key)) found.push({ path: [...path, index, field], message, tolerated: true })
    else seen.set(key, index)
  }
  for (const [index, arg] of args.entries()) {
    once(`name ${arg.name}`, index, 'name', `two arguments are called '${arg.name}'`)
    if (arg.cwd) once('cwd', index, 'cwd', `argument '${arg.name}': another argument already has cwd: true`)
    if (arg.stdin) once('stdin', index, 'stdin', `argument '${arg.name}': another argument already has stdin: true`)
    if (typeof arg.positional === 'number') {
      const message = `argument '${arg.name}': another argument already has the position ${arg.positional}`
      once(`position ${arg.positional}`, index, 'positional', message)
    }
  }
  return found
}

const argKeys: KeyShape = {
  keys: sameYamlKeys('name type description required default flag positional cwd stdin enum repeat items root'),
}

/** The annotations without the suffix of their MCP names. */
const shortHints = {
  read_only: 'readOnlyHint',
  destructive: 'destructiveHint',
  idempotent: 'idempotentHint',
  open_world: 'openWorldHint',
}

const toolKeys: KeyShape = {
  keys: {
    ...sameYamlKeys('name description command args timeout category tags annotations isolation network root'),
    example_requests: 'exampleRequests',
    end_of_options: 'endOfOptions',
    inherit_env: 'inheritEnv',
  },
  inside: {
    args: argKeys,
    annotations: {
      keys: { ...shortHints, ...sameYamlKeys('readOnlyHint destructiveHint idempotentHint openWorldHint') },
    },
  },
}

/** The keys of a config file. */
export const configKeys: KeyShape = {
  keys: {
    ...sameYamlKeys('name description command env category tags tools isolation network root'),
    working_dir: 'workingDir',
    global_args: 'globalArgs',
    inherit_env: 'inheritEnv',
    end_of_options: 'endOfOptions',
  },
  inside: { tools: toolKeys, global_args: argKeys },
}
