import * as z from 'zod'
import { findUnknownParameter, parameterNames } from '../parameter-names.ts'
import { type ConfigFinding, defineConfigCheck, type InputSchema, TimeoutMs, WorkerLabel } from '../read-config.ts'
import { EnvConfig, isolationFields } from '../sandbox/isolation-config.ts'
import { refusedDefault, schemaDefaults } from '../schema-defaults.ts'
import { fillCommand, parameterOf } from './fill-command.ts'

const noNul = (text: z.ZodString) => text.regex(/^[^\0]*$/, 'must not have the character U+0000')
const Word = noNul(z.string().max(10_000))
const Parameter = z.string().min(1).max(200)

/** The words of a command; a word `{{name}}` stands for the value of a parameter. */
export const ShellConfig = z.strictObject({
  /** Words in a list of their own are left out together where one of their parameters is not given. */
  command: z
    .array(z.union([Word, z.array(Word).min(1).max(100)]))
    .min(1)
    .max(500),
  cwd: noNul(z.string().min(1)).optional(),
  env: EnvConfig.optional(),
  /** The parameter whose value is written to the program's stdin. */
  stdin: Parameter.optional(),
  /** Parameters that are paths, each with the folder that it must not lead out of. */
  paths: z.record(Parameter, noNul(z.string().regex(/^\//, 'must be an absolute path'))).optional(),
  /** Parameters whose values may begin with a dash although no `--` stands before them. */
  dashes: z.array(Parameter).optional(),
  timeoutMs: TimeoutMs.optional(),
  worker: WorkerLabel.optional(),
  ...isolationFields,
})
export type ShellConfig = z.infer<typeof ShellConfig>

/** What is wrong with the config of a command. */
export const checkShellConfig = defineConfigCheck(ShellConfig, (config, inputSchema) => [
  ...checkProgram(config.command[0] ?? ''),
  ...config.command.flatMap((part, index) => checkPart(part, ['command', index], inputSchema)),
  ...checkDangling(config, inputSchema),
  ...checkNamed(config, inputSchema),
  ...checkFixed(config),
  ...findUnused(config, inputSchema),
  ...checkDefaults(config, inputSchema),
])

/** Defaults of the schema that cannot be a word of the command, such as one that begins with a dash. */
function checkDefaults({ command, dashes }: ShellConfig, inputSchema: InputSchema): readonly ConfigFinding[] {
  return schemaDefaults(inputSchema).flatMap(([name, value]) => {
    const index = command.findIndex((part) => [part].flat().some((word) => parameterOf(word) === name))
    if (index < 0) return []
    // Words before it count, because after a `--` a dash is allowed; other parameters of its list are not given here.
    const until = [...command.slice(0, index).filter((part) => part === '--'), `{{${name}}}`]
    return refusedDefault(name, ['command', index], () => fillCommand(until, { input: { [name]: value }, dashes }))
  })
}

function checkProgram(word: string | readonly string[]): readonly ConfigFinding[] {
  const path = ['command', 0]
  if (typeof word !== 'string' || word.trim() === '') return [{ path, message: 'the first word must name a program' }]
  if (parameterOf(word) === undefined) return []
  return [{ path, message: 'the program itself may not be a parameter', hint: 'write its name' }]
}

function checkPart(
  part: string | readonly string[],
  path: readonly PropertyKey[],
  inputSchema: InputSchema,
): readonly ConfigFinding[] {
  return typeof part === 'string'
    ? checkWord(part, path, inputSchema)
    : part.flatMap((word, index) => checkWord(word, [...path, index], inputSchema))
}

function checkWord(word: string, path: readonly PropertyKey[], inputSchema: InputSchema): readonly ConfigFinding[] {
  const name = parameterOf(word)
  if (name !== undefined) return findUnknownParameter(name, parameterNames(inputSchema), path)
  if (!word.includes('{{')) return []
  const hint = 'give it a word of its own, such as ["--name", "{{name}}"]'
  return [
    { path, message: `a parameter must be a whole word of the command, not a part of '${word.slice(0, 100)}'`, hint },
  ]
}

/** An option would be left without its value. */
function checkDangling({ command }: ShellConfig, inputSchema: InputSchema): readonly ConfigFinding[] {
  const properties = Object.entries((inputSchema.properties ?? {}) as Record<string, { default?: unknown } | boolean>)
  const filled = properties.filter(([, property]) => typeof property === 'object' && property?.default !== undefined)
  const required = new Set([
    ...(Array.isArray(inputSchema.required) ? inputSchema.required : []),
    ...filled.map(([name]) => name),
  ])
  return command.flatMap((part, index): readonly ConfigFinding[] => {
    const [name, before] = [typeof part === 'string' ? parameterOf(part) : undefined, command[index - 1]]
    if (name === undefined || required.has(name) || typeof before !== 'string' || !/^--?[A-Za-z][\w-]*$/.test(before))
      return []
    const message = `where '${name}' is not given, the option '${before.slice(0, 50)}' before it stays`
    const hint = `if it needs the value, write both as one list: ["${before.slice(0, 50)}", "${part}"]`
    return [{ path: ['command', index], message, hint, severity: 'warning' }]
  })
}

function checkNamed({ stdin, paths = {}, dashes = [] }: ShellConfig, inputSchema: InputSchema) {
  const names = parameterNames(inputSchema)
  return [
    ...(stdin === undefined ? [] : findUnknownParameter(stdin, names, ['stdin'])),
    ...Object.keys(paths).flatMap((name) => findUnknownParameter(name, names, ['paths', name])),
    ...dashes.flatMap((name, index) => findUnknownParameter(name, names, ['dashes', index])),
  ]
}

function checkFixed({ cwd, env = {} }: ShellConfig): readonly ConfigFinding[] {
  const texts: [string[], string][] = Object.entries(env).map(([name, value]) => [['env', name], value])
  if (cwd !== undefined) texts.push([['cwd'], cwd])
  return texts
    .filter(([, text]) => text.includes('{{'))
    .map(([path]) => ({
      path,
      message: `${path.join('.')} may not have parameters`,
      hint: 'only words of the command may',
    }))
}

function findUnused({ command, stdin }: ShellConfig, inputSchema: InputSchema): readonly ConfigFinding[] {
  const used = new Set([stdin, ...command.flat().map(parameterOf)])
  const unused = [...(parameterNames(inputSchema) ?? [])].filter((name) => !used.has(name))
  return unused.map((name) => ({
    path: ['command'],
    message: `the command never uses the parameter '${name}'`,
    hint: `add "{{${name}}}", or drop it from the input schema`,
    severity: 'warning',
  }))
}
