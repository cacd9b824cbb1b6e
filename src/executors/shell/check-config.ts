import * as z from 'zod'
import { TimeoutMs } from '../../contract/executor-kinds.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import type { SchemaParameters } from '../../json-schema/read-parameters.ts'
import {
  defineConfigCheck,
  findUnknownParameter,
  refusedDefault,
  unusedParameters,
  WorkerLabel,
} from '../read-config.ts'
import { EnvConfig, isolationFields } from '../sandbox/sandbox-config.ts'
import { fillCommand, parameterOf } from './fill-command.ts'

const noNul = (text: z.ZodString) => text.regex(/^[^\0]*$/, 'must not contain a NUL byte')
const Argument = noNul(z.string().max(10_000))
const Parameter = z.string().min(1).max(200)

/** The arguments of a command; an argument `{{name}}` is replaced by the value of a parameter. */
export const ShellConfig = z.strictObject({
  /** Arguments in an array of their own are omitted together if one of their parameters is absent. */
  command: z
    .array(z.union([Argument, z.array(Argument).min(1).max(100)]))
    .min(1)
    .max(500),
  cwd: noNul(z.string().min(1)).optional(),
  env: EnvConfig.optional(),
  /** The parameter whose value is written to the program's stdin. */
  stdin: Parameter.optional(),
  /** Parameters that are paths, each with the folder that it must stay in. */
  paths: z.record(Parameter, noNul(z.string().regex(/^\//, 'must be an absolute path'))).optional(),
  /** Parameters whose values may begin with a dash even without a `--` before them. */
  dashes: z.array(Parameter).optional(),
  timeoutMs: TimeoutMs.optional(),
  worker: WorkerLabel.optional(),
  ...isolationFields,
})
export type ShellConfig = z.infer<typeof ShellConfig>

/** Validates the config of a shell tool. */
export const checkShellConfig = defineConfigCheck(ShellConfig, (config, parameters) => [
  ...checkProgram(config.command[0] ?? ''),
  ...config.command.flatMap((part, index) => checkPart(part, ['command', index], parameters)),
  ...checkDangling(config, parameters),
  ...checkNamed(config, parameters),
  ...checkFixed(config),
  ...findUnused(config, parameters),
  ...checkDefaults(config, parameters),
])

/** Defaults of the schema that cannot be an argument of the command, such as one that begins with a dash. */
function checkDefaults({ command, dashes }: ShellConfig, parameters: SchemaParameters): readonly Finding[] {
  return [...parameters.defaults].flatMap(([name, { value }]) => {
    const index = command.findIndex((part) => [part].flat().some((argument) => parameterOf(argument) === name))
    if (index < 0) return []
    // The arguments before it matter, because a dash is allowed after `--`; the other parameters of its array are absent here.
    const until = [...command.slice(0, index).filter((part) => part === '--'), `{{${name}}}`]
    return refusedDefault(name, ['command', index], () => fillCommand(until, { input: { [name]: value }, dashes }))
  })
}

function checkProgram(argument: string | readonly string[]): readonly Finding[] {
  const path = ['command', 0]
  if (typeof argument !== 'string' || argument.trim() === '')
    return [{ path, message: 'the first item of the command must name a program' }]
  if (parameterOf(argument) === undefined) return []
  return [{ path, message: 'the program must not be a parameter', hint: 'use the name of a program' }]
}

function checkPart(
  part: string | readonly string[],
  path: readonly PropertyKey[],
  parameters: SchemaParameters,
): readonly Finding[] {
  return typeof part === 'string'
    ? checkArgument(part, path, parameters)
    : part.flatMap((argument, index) => checkArgument(argument, [...path, index], parameters))
}

function checkArgument(
  argument: string,
  path: readonly PropertyKey[],
  parameters: SchemaParameters,
): readonly Finding[] {
  const name = parameterOf(argument)
  if (name !== undefined) return findUnknownParameter(name, parameters, path)
  if (!argument.includes('{{')) return []
  const hint = 'make it an item of its own, such as ["--name", "{{name}}"]'
  return [
    {
      path,
      message: `a parameter must be a whole item of the command, not a part of '${argument.slice(0, 100)}'`,
      hint,
    },
  ]
}

/** Warns of options that would stay without their value. */
function checkDangling({ command }: ShellConfig, parameters: SchemaParameters): readonly Finding[] {
  const required = new Set([...parameters.required, ...parameters.defaults.keys()])
  return command.flatMap((part, index): readonly Finding[] => {
    const [name, before] = [typeof part === 'string' ? parameterOf(part) : undefined, command[index - 1]]
    if (name === undefined || required.has(name) || typeof before !== 'string' || !/^--?[A-Za-z][\w-]*$/.test(before))
      return []
    const message = `without '${name}', the option '${before.slice(0, 50)}' before it stays in the command`
    const hint = `if it needs the value, put both in one array: ["${before.slice(0, 50)}", "${part}"]`
    return [{ path: ['command', index], message, hint, severity: 'warning' }]
  })
}

function checkNamed({ stdin, paths = {}, dashes = [] }: ShellConfig, parameters: SchemaParameters) {
  return [
    ...(stdin === undefined ? [] : findUnknownParameter(stdin, parameters, ['stdin'])),
    ...Object.keys(paths).flatMap((name) => findUnknownParameter(name, parameters, ['paths', name])),
    ...dashes.flatMap((name, index) => findUnknownParameter(name, parameters, ['dashes', index])),
  ]
}

function checkFixed({ cwd, env = {} }: ShellConfig): readonly Finding[] {
  const texts: [string[], string][] = Object.entries(env).map(([name, value]) => [['env', name], value])
  if (cwd !== undefined) texts.push([['cwd'], cwd])
  return texts
    .filter(([, text]) => text.includes('{{'))
    .map(([path]) => ({
      path,
      message: `${path.join('.')} must not contain parameters`,
      hint: 'use parameters in command only',
    }))
}

function findUnused({ command, stdin }: ShellConfig, parameters: SchemaParameters): readonly Finding[] {
  const used = new Set([stdin, ...command.flat().map(parameterOf)])
  return unusedParameters(parameters, used).map((name) => ({
    path: ['command'],
    message: `the command never uses the parameter '${name}'`,
    hint: `add "{{${name}}}", or remove it from the input schema`,
    severity: 'warning',
  }))
}
