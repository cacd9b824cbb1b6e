import { toDisplayName } from '../../contract/bundle.ts'
import { type ArgDef, CliConfig, type ToolDef } from '../../contract/cli-config.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import { typeYamlDocument } from '../../documents/typed-yaml.ts'
import type { YamlDocument } from '../../documents/yaml-document.ts'
import { buildInputSchema } from '../../rules/build-input-schema.ts'
import { checkConfig, configKeys, dependentsOfArg } from '../check-cli-config.ts'
import type { BundleView } from './bundle-view.ts'
import { toSafeNamespace, toSafeToolName, warnToolName } from './foreign-tool.ts'

const configKind = {
  schema: CliConfig,
  keys: configKeys,
  code: 'BUNDLE_INVALID',
  needs: "at least 'command' and 'tools'",
  dependents: dependentsOfArg,
  // The environment is that of the run.
  check: (config: CliConfig) => checkConfig(config),
} as const

/** The tools of a CLI config, each with the settings of the config that it needs to run. */
export function cliConfigAsBundle(document: YamlDocument, file: string): BundleView {
  const { value: config } = typeYamlDocument(document, file, configKind, true)
  const namespace = toSafeNamespace(config.name)
  const findings = [
    ...warnToolName(config.name, namespace, ['name']),
    ...config.tools.flatMap((tool, index) => warnTool(tool, ['tools', index])),
  ]
  const tools = config.tools.map((tool) => ({ ...toTool(config, tool), namespace }))
  return { value: { tooldex: 1, tools }, origin: (path) => path, findings, impliesCategories: true }
}

function toTool(config: CliConfig, tool: ToolDef): Record<string, unknown> {
  const displayName = toDisplayName(tool.name)
  return {
    name: toSafeToolName(tool.name),
    displayName,
    description: tool.description.trim() || displayName,
    category: tool.category ?? config.category ?? null,
    tags: [...new Set([...config.tags, ...tool.tags])],
    exampleRequests: tool.exampleRequests,
    annotations: tool.annotations ?? {},
    inputSchema: buildInputSchema(tool.args),
    executorType: 'cli',
    executorConfig: toCliExecutorConfig(config, tool),
  }
}

function warnTool({ name, description }: ToolDef, path: readonly PropertyKey[]): readonly Finding[] {
  const missing = { message: `'${name}' has no description; its name is used instead`, hint: 'describe what it does' }
  return [
    ...warnToolName(name, toSafeToolName(name), [...path, 'name']),
    ...(description.trim() === '' ? [{ path, ...missing, severity: 'warning' as const }] : []),
  ]
}

/** The executor config of one tool of a config, without fields that have their default. */
function toCliExecutorConfig(config: CliConfig, tool: ToolDef): Record<string, unknown> {
  const { command, args, timeout } = tool
  const endOfOptions = tool.endOfOptions ?? (config.endOfOptions || undefined)
  const inheritEnv = tool.inheritEnv ?? config.inheritEnv
  const isolation = tool.isolation ?? config.isolation
  const network = tool.network ?? config.network
  const root = tool.root ?? config.root
  return {
    baseCommand: config.command,
    ...(command === '' ? {} : { command }),
    ...(args.length === 0 ? {} : { args: args.map(omitDefaults) }),
    ...(config.globalArgs.length === 0 ? {} : { globalArgs: config.globalArgs.map(omitDefaults) }),
    ...(Object.keys(config.env).length === 0 ? {} : { env: config.env }),
    ...(config.workingDir == null ? {} : { workingDir: config.workingDir }),
    ...(timeout == null ? {} : { timeout }),
    ...(endOfOptions === undefined ? {} : { endOfOptions }),
    ...(inheritEnv === undefined ? {} : { inheritEnv }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(network === undefined ? {} : { network }),
    ...(root === undefined ? {} : { root }),
  }
}

function omitDefaults(arg: ArgDef): Record<string, unknown> {
  const isDefault = (key: string, value: unknown) =>
    value == null || (key === 'type' && value === 'string') || (key !== 'default' && (value === false || value === ''))
  return Object.fromEntries(Object.entries(arg).filter(([key, value]) => !isDefault(key, value)))
}
