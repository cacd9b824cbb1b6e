import * as z from 'zod'
import type { Environment } from '../../base/expand-variables.ts'
import { ArgDef, CliConfig, type LoadedConfig, ToolDef } from '../../contract/cli-config.ts'
import { parseTypedYaml } from '../../documents/typed-yaml.ts'
import { configKeys } from '../cli-config-keys.ts'
import { advise } from './advise.ts'
import { checkConfig, checkEnvironment } from './check-config.ts'
import type { ConfigCache } from './config-cache.ts'
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
  const env = options.env ?? process.env
  const known = options.cache?.get(text)
  // Only valid configs are cached. The environment is checked again; its problems are located in the text.
  if (known !== undefined && checkEnvironment(known, env).length === 0)
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
  controllingKeys: new Set(['type', 'items', 'repeat']),
  yaml: { tolerant: true },
  relax: relaxConfig,
} as const
