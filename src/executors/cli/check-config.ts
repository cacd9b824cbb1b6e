import * as z from 'zod'
import { splitWords } from '../../base/split-words.ts'
import { refusedKeys } from '../../base/yaml-document.ts'
import { type ArgDef, CliConfig, ToolDef } from '../../contract/cli-config.ts'
import { findUnknownParameter, parameterNames } from '../parameter-names.ts'
import { type ConfigFinding, defineConfigCheck, type InputSchema, TimeoutMs } from '../read-config.ts'

/** One tool of a YAML config with its whole command, as a registered tool keeps it. */
export const CliToolConfig = ToolDef.pick({ args: true, timeout: true, endOfOptions: true, inheritEnv: true }).extend({
  /** The program and its fixed words. */
  command: z.string().min(1),
  env: CliConfig.shape.env,
  workingDir: CliConfig.shape.workingDir,
  timeoutMs: TimeoutMs.optional(),
})
export type CliToolConfig = z.infer<typeof CliToolConfig>

/** What is wrong with the config of a tool of a command-line program. */
export const checkCliConfig = defineConfigCheck(CliToolConfig, (config, inputSchema) => [
  ...checkCommand(config.command),
  ...config.args.flatMap((arg, index) => checkArg(arg, ['args', index], config.args.slice(0, index))),
  ...checkNames(config.args, inputSchema),
])

function checkCommand(command: string): readonly ConfigFinding[] {
  const path = ['command']
  try {
    return splitWords(command).length > 0 ? [] : [{ path, message: 'command must name a program' }]
  } catch (error) {
    return [
      {
        path,
        message: `command: ${error instanceof Error ? error.message : 'is not well formed'}`,
        hint: 'close the quotes',
      },
    ]
  }
}

function checkArg(arg: ArgDef, path: readonly PropertyKey[], before: readonly ArgDef[]): readonly ConfigFinding[] {
  const found: ConfigFinding[] = []
  const places = [
    arg.positional !== false && 'positional',
    arg.cwd && 'cwd',
    arg.stdin && 'stdin',
    arg.flag != null && 'flag',
  ]
  const taken = places.filter((place) => place !== false)
  if (refusedKeys.has(arg.name))
    found.push({ path: [...path, 'name'], message: `no argument may be called '${arg.name}'` })
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

function checkNames(args: readonly ArgDef[], inputSchema: InputSchema): readonly ConfigFinding[] {
  const names = parameterNames(inputSchema)
  const known = new Set(args.map(({ name }) => name))
  const unknown = args.flatMap(({ name }, index) => findUnknownParameter(name, names, ['args', index, 'name']))
  const unused = [...(names ?? [])].filter((name) => !known.has(name))
  return [
    ...unknown,
    ...unused.map((name): ConfigFinding => {
      const message = `no argument takes the parameter '${name}'`
      return { path: ['args'], message, hint: `add { "name": "${name}" }`, severity: 'warning' }
    }),
  ]
}
