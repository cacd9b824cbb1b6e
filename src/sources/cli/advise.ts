import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Environment, expandHome, expandVariables } from '../../base/expand-variables.ts'
import type { ArgDef, CliConfig } from '../../contract/cli-config.ts'
import type { Finding } from '../../diagnostics/finding.ts'

/** Warnings about valid parts of a config that are probably mistakes. */
export function advise(config: CliConfig, env: Environment): readonly Finding[] {
  const found = [
    ...adviseOnFolder(config.workingDir ?? null, env),
    ...config.globalArgs.flatMap((arg, index) => adviseOnFlag(arg, ['globalArgs', index])),
    ...adviseOnTools(config.tools),
  ]
  return found.map((finding) => ({ ...finding, severity: 'warning' }))
}

function adviseOnTools(tools: CliConfig['tools']): readonly Finding[] {
  if (tools.length === 0)
    return [{ path: ['tools'], message: 'tools is empty, so the config offers nothing', hint: 'add a tool' }]
  const names = tools.map((tool) => tool.name)
  return tools.flatMap(({ name, args }, index) => {
    const path = ['tools', index]
    const message = `another tool is called '${name}' already; only the last one can be called`
    const twice = names.indexOf(name) < index ? [{ path: [...path, 'name'], message, hint: 'rename one of them' }] : []
    return [...twice, ...args.flatMap((arg, place) => adviseOnFlag(arg, [...path, 'args', place]))]
  })
}

/** A flag without a leading dash or plus that is not joined to its value looks like a value, except for booleans. */
function adviseOnFlag({ name, flag, type }: ArgDef, path: readonly PropertyKey[]): readonly Finding[] {
  if (flag == null || type === 'boolean' || /^[-+]/.test(flag) || flag.endsWith('=')) return []
  const message = `argument '${name}': the flag '${flag}' does not begin with a dash`
  return [{ path: [...path, 'flag'], message, hint: `write --${flag}, or ${flag}= for one word with the value` }]
}

function adviseOnFolder(folder: string | null, env: Environment): readonly Finding[] {
  if (folder === null || isFolder(resolve(expandHome(expandVariables(folder, env).text, env)))) return []
  const message = `working_dir '${folder}' is not a folder on this machine`
  return [{ path: ['workingDir'], message, hint: 'create it, or correct the path' }]
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
