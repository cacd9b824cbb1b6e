import { type Environment, expandVariables } from '../../base/expand-variables.ts'
import { findOpenQuote, splitWords } from '../../base/split-words.ts'
import { hasInvisible, showInvisible } from '../../base/visible-text.ts'
import type { CliConfig, ToolDef } from '../../contract/cli-config.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import { formatPath } from '../../diagnostics/zod-issues.ts'
import { checkArgs } from '../check-cli-args.ts'

/** Contradictions between well-formed fields of a config; those that CLImax accepts are warnings. */
export function checkConfig(config: CliConfig, env: Environment): readonly Finding[] {
  return [
    ...checkProgram(config),
    ...checkQuotes(config.command, ['command']),
    ...checkEnvironment(config, env),
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
  const message = `${formatPath(path)}: a ${quote} is never closed, so quotes are ignored and it is split at spaces`
  return [{ path, message, hint: 'close the quotes', tolerated: true }]
}

function checkNames(named: readonly { readonly name: string }[], path: readonly PropertyKey[]): readonly Finding[] {
  return named.flatMap(({ name }, index): readonly Finding[] => {
    if (name !== '') return []
    const at = [...path, index, 'name']
    return [{ path: at, message: `${formatPath(at)} is empty, so it cannot be used`, hint: 'name it', tolerated: true }]
  })
}

/** The part of the check that depends on the environment. */
export function checkEnvironment({ env: values }: CliConfig, env: Environment): readonly Finding[] {
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
    const message = `${formatPath(path)} has invisible characters: ${JSON.stringify(shown)}`
    return [{ path, message, hint: 'remove them', severity: 'warning' }]
  }
  if (typeof value !== 'object' || value === null) return []
  const entries: [PropertyKey, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return entries.flatMap(([key, held]) => checkTexts(held, [...path, key]))
}
