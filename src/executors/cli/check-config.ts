import { findOpenQuote, splitWords } from '../../base/split-words.ts'
import { type ArgDef, CliExecutorConfig } from '../../contract/cli-config.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import { refusedKeys } from '../../documents/yaml-document.ts'
import type { SchemaParameters } from '../../json-schema/read-parameters.ts'
import { defineConfigCheck, findUnknownParameter, refusedDefault, unusedParameters } from '../read-config.ts'
import { LimitsConfig } from '../sandbox/sandbox-limits.ts'
import { coerceArguments } from './coerce-arguments.ts'

/** Validates the config of a CLI tool. */
export const checkCliConfig = defineConfigCheck<CliExecutorConfig>(CliExecutorConfig, (config, parameters) => [
  ...checkCommand(config.baseCommand, ['baseCommand']),
  ...checkCommand(config.command, ['command'], true),
  ...config.args.flatMap((arg, index) => checkArg(arg, ['args', index], config.args.slice(0, index))),
  ...checkNames(config.args, parameters),
  ...checkDefaults(config.args, parameters),
  ...checkLimits(config.limits),
])

function checkLimits(limits: CliExecutorConfig['limits']): readonly Finding[] {
  const parsed = LimitsConfig.safeParse(limits ?? {})
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => ({ path: ['limits', ...path], message }))
}

function checkCommand(command: string, path: readonly string[], mayBeEmpty = false): readonly Finding[] {
  const quote = findOpenQuote(command)
  if (quote !== undefined)
    return [{ path, message: `${path[0]}: a ${quote} is never closed`, hint: 'close the quotes' }]
  return splitWords(command).length > 0 || mayBeEmpty ? [] : [{ path, message: `${path[0]} must name a program` }]
}

function checkArg(arg: ArgDef, path: readonly PropertyKey[], before: readonly ArgDef[]): readonly Finding[] {
  const found: Finding[] = []
  const uses = [
    arg.positional !== false && 'positional',
    arg.cwd && 'cwd',
    arg.stdin && 'stdin',
    arg.flag != null && 'flag',
  ]
  const taken = uses.filter((use) => use !== false)
  if (refusedKeys.has(arg.name))
    found.push({ path: [...path, 'name'], message: `'${arg.name}' is not allowed as the name of an argument` })
  if (before.some((other) => other.name === arg.name))
    found.push({ path: [...path, 'name'], message: `two arguments are called '${arg.name}'` })
  if (taken.length > 1)
    found.push({
      path: [...path, taken[1] ?? ''],
      message: `argument '${arg.name}' is both ${taken.join(' and ')}`,
      hint: 'keep one of them',
    })
  return found
}

function checkNames(args: readonly ArgDef[], parameters: SchemaParameters): readonly Finding[] {
  const declared = new Set(args.map(({ name }) => name))
  const unknown = args.flatMap(({ name }, index) => findUnknownParameter(name, parameters, ['args', index, 'name']))
  return [
    ...unknown,
    ...unusedParameters(parameters, declared).map((name) => {
      if (parameters.defaults.has(name)) return unusedParameter(name, 'has a default')
      return unusedParameter(name, parameters.required.has(name) ? 'is required' : '')
    }),
  ]
}

/** A call with a parameter that no argument takes is rejected, so such a parameter is an error if every call has it. */
function unusedParameter(name: string, always: 'has a default' | 'is required' | ''): Finding {
  if (always === '') {
    const message = `no argument takes the parameter '${name}'`
    return { path: ['args'], message, hint: `add { "name": "${name}" }`, severity: 'warning' }
  }
  const message = `no argument takes the parameter '${name}', which ${always} in the input schema, so every call would fail`
  return { path: ['args'], message, hint: `add { "name": "${name}" }, or remove '${name}' from the input schema` }
}

/** Defaults of the schema and of the arguments that every call would reject. */
function checkDefaults(args: readonly ArgDef[], parameters: SchemaParameters): readonly Finding[] {
  const own = args.flatMap((arg, index) =>
    arg.default == null
      ? []
      : refusedDefault(arg.name, ['args', index, 'default'], () =>
          coerceArguments([{ ...arg, default: null }], { [arg.name]: arg.default }),
        ),
  )
  const filled = [...parameters.defaults].flatMap(([name, { value }]) => {
    const index = args.findIndex((arg) => arg.name === name)
    const arg = args[index]
    if (arg === undefined) return []
    return refusedDefault(name, ['args', index], () => coerceArguments([arg], { [name]: value }))
  })
  return [...own, ...filled]
}
