import { type Environment, expandVariables } from '../../base/expand-variables.ts'
import { splitWords } from '../../base/split-words.ts'
import type { Finding } from '../../base/typed-yaml.ts'
import { hasInvisible, showInvisible } from '../../base/visible-text.ts'
import { formatPath } from '../../base/zod-issues.ts'
import { checkArgs } from '../../contract/check-cli-args.ts'
import type { CliConfig, ToolDef } from '../../contract/cli-config.ts'

/** What makes no sense in a config although each field is well formed by itself. */
export function checkConfig(config: CliConfig, env: Environment): readonly Finding[] {
  return [
    ...checkCommand(config.command, ['command']),
    ...checkEnv(config.env, env),
    ...checkArgs(config.globalArgs, ['globalArgs'], { global: true }),
    ...config.tools.flatMap((tool, index) => checkTool(tool, ['tools', index])),
    ...checkTexts(config, []),
  ]
}

function checkTool(tool: ToolDef, path: readonly PropertyKey[]): readonly Finding[] {
  return [...checkCommand(tool.command, [...path, 'command']), ...checkArgs(tool.args, [...path, 'args'])]
}

function checkCommand(command: string, path: readonly PropertyKey[]): readonly Finding[] {
  try {
    const words = splitWords(command)
    if (path.length === 1 && words.length === 0) return [{ path, message: 'command must name a program' }]
    return []
  } catch (error) {
    return [{ path, message: `${formatPath(path)}: ${(error as Error).message}`, hint: 'close the quotes' }]
  }
}

function checkEnv(values: CliConfig['env'], env: Environment): readonly Finding[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = ['env', name]
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return [{ path, message: `env.${name} is not a variable name` }]
    return expandVariables(value, env, 'braced').missing.map((variable) => ({
      path,
      message: `env.${name} needs the environment variable ${variable}, which is not set`,
      hint: `set ${variable}, or write \${${variable}:-default}`,
    }))
  })
}

/** Texts a model will read must not hide anything from the person who reads them first. */
function checkTexts(value: unknown, path: readonly PropertyKey[]): readonly Finding[] {
  if (typeof value === 'string') {
    if (!hasInvisible(value)) return []
    const shown = showInvisible(value).slice(0, 80)
    const message = `${formatPath(path)} has invisible characters: ${JSON.stringify(shown)}`
    return [{ path, message, hint: 'remove them', severity: 'warning' }]
  }
  if (typeof value !== 'object' || value === null) return []
  const entries: [PropertyKey, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return entries.flatMap(([key, held]) => checkTexts(held, [...path, key]))
}
