import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { type Environment, expandHome, expandVariables } from '../../base/expand-variables.ts'
import { didYouMean } from '../../base/suggest.ts'
import { ArgDef, CliConfig, type LoadedConfig, ToolDef } from '../../contract/cli-config.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import { readTextFile } from '../../documents/read-text-file.ts'
import { parseTypedYaml } from '../../documents/typed-yaml.ts'
import { processEnv } from '../../rules/settings.ts'
import { checkCliEnvironment, checkConfig, configKeys, dependentsOfArg } from '../check-cli-config.ts'
import type { ConfigCache } from './cli-source.ts'
import { listConfigNames, looksLikePath, resolveConfigPath } from './config-files.ts'
import { relaxConfig } from './relax-config.ts'

/** Options for parsing a config. */
export interface ParseOptions {
  /** Treat unknown keys and tolerated contradictions as errors. */
  readonly strict?: boolean | undefined
  /** Also warn about probable mistakes. */
  readonly advise?: boolean | undefined
  readonly env?: Environment | undefined
  readonly cache?: ConfigCache | undefined
}

/** Parses a config from YAML, or returns it from the cache. */
export function parseConfig(text: string, file: string, options: ParseOptions = {}): LoadedConfig {
  const env = options.env ?? processEnv
  const known = options.cache?.get(text)
  // Only valid configs are cached. The environment is checked again; its problems are located in the text.
  if (known !== undefined && checkCliEnvironment(known, env).length === 0)
    return { name: file, file, config: known, warnings: [] }
  const { value, warnings } = parseTypedYaml(
    text,
    file,
    { ...configKind, check: (config) => [...checkConfig(config, env), ...(options.advise ? advise(config, env) : [])] },
    options.strict,
  )
  if (warnings.length === 0) options.cache?.put(text, value)
  return { name: file, file, config: warnings.length === 0 ? value : withoutNameless(value), warnings }
}

/** The config without tools and arguments that have an empty name. */
function withoutNameless(config: CliConfig): CliConfig {
  const named = <T extends { readonly name: string }>(all: readonly T[]) => all.filter(({ name }) => name !== '')
  const tools = named(config.tools).map((tool) => ({ ...tool, args: named(tool.args) }))
  return { ...config, globalArgs: named(config.globalArgs), tools }
}

// An empty name is reported with the other contradictions, so that it can be tolerated.
const AnyNameArg = ArgDef.extend({ name: z.string() })
const AnyNameTool = ToolDef.extend({ name: z.string(), args: z.array(AnyNameArg).default([]) })
const AnyNameConfig = CliConfig.extend({
  globalArgs: z.array(AnyNameArg).default([]),
  tools: z.array(AnyNameTool),
})

const configKind = {
  schema: AnyNameConfig,
  keys: configKeys,
  code: 'CONFIG_INVALID',
  needs: "at least 'command' and 'tools'",
  dependents: dependentsOfArg,
  yaml: { tolerant: true },
  relax: relaxConfig,
} as const

/** Warnings about valid parts of a config that are probably mistakes. */
function advise(config: CliConfig, env: Environment): readonly Finding[] {
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

/** Loads a config by its bundled name or its path. Throws a TooldexError that lists every problem of the file. */
export function loadConfig(nameOrPath: string, options: ParseOptions = {}): CliConfig {
  return loadConfigFile(nameOrPath, options).config
}

/** Loads a config with its warnings and its origin. */
export function loadConfigFile(nameOrPath: string, options: ParseOptions = {}): LoadedConfig {
  const path = resolveConfigPath(nameOrPath, options.env)
  try {
    return { ...parseConfig(readTextFile(path), path, options), name: nameOrPath }
  } catch (error) {
    const missing = error instanceof TooldexError && error.code === 'CONFIG_NOT_FOUND'
    if (!missing || looksLikePath(nameOrPath)) throw error
    const names = listConfigNames(options.env)
    throw new TooldexError('CONFIG_NOT_FOUND', `There is no config '${nameOrPath}'.${didYouMean(nameOrPath, names)}`)
  }
}
