import { toMcpAnnotations } from '../contract/catalog.ts'
import type { ToolRule } from '../contract/policy.ts'
import type { RegisteredTool, ToolContent } from '../contract/registry.ts'
import { readSchemaParameters } from '../json-schema/read-parameters.ts'
import { ownFolder } from './needed-grants.ts'

/** Whether a tool itself requires approval of each call. */
export const requiresApproval = ({ annotations }: Pick<ToolContent, 'annotations'>): boolean =>
  toMcpAnnotations(annotations).requiresApproval === true

/** The protection that a newer definition of a tool has and an older one lacks; undefined where the older is as strict. */
export function findTightening(older: ToolContent, newer: ToolContent): string | undefined {
  if (requiresApproval(newer) && !requiresApproval(older)) return 'requires approval of each call'
  if (hasStricterSandbox(older, newer)) return 'runs in a stricter sandbox'
  for (const [option, protection] of wideningOptions)
    if (older.executorConfig[option] === true && newer.executorConfig[option] !== true) return protection
  if (dropsAny(foldersOf(older), foldersOf(newer))) return 'no longer uses a folder that it used'
  const inheritsAll = newer.executorConfig.inheritEnv === true
  if (!inheritsAll && dropsAny(inheritedBy(older), inheritedBy(newer))) return 'inherits fewer variables'
  if (dropsAny(secretsOf(older), secretsOf(newer))) return 'no longer uses a secret or variable that it used'
  return undefined
}

/** Options of an executor config that widen what a run can reach, with the protection that their absence means. */
const wideningOptions = [
  ['network', 'has no network'],
  ['allowPrivate', 'reaches no private addresses'],
] as const

const isolationRanks: Readonly<Record<string, number>> = { limited: 0, confined: 2, isolated: 3 }

/** Without `isolation` a server uses the best sandbox it has: counted as the best one of the newer, and as the least of the older. */
function hasStricterSandbox(older: ToolContent, newer: ToolContent): boolean {
  const [before, after] = [older.executorConfig.isolation, newer.executorConfig.isolation]
  return before !== after && (isolationRanks[String(after)] ?? 3) > (isolationRanks[String(before)] ?? 1)
}

const dropsAny = (before: readonly string[], after: readonly string[]): boolean =>
  before.some((item) => !after.includes(item))

/** The folders of the host in the config of a tool. */
function foldersOf({ executorConfig: { cwd, workingDir, root, paths, args } }: ToolContent): readonly string[] {
  const roots = listOf(args).map((arg) => arg.root)
  const named = [cwd, workingDir, root, ...Object.values(recordOf(paths)), ...roots]
  return named.filter((folder) => typeof folder === 'string').filter((folder) => !ownFolder.test(folder))
}

/** The references to secrets and to variables of the server in the config of a tool. */
function secretsOf({ executorConfig: { env, auth } }: ToolContent): readonly string[] {
  const values = Object.values(recordOf(env)).map(String)
  const references = values.filter((value) => /^(?:secret|env|file):/.test(value) || value.includes('$'))
  const { secret } = recordOf(auth)
  return [...references, ...(typeof secret === 'string' ? [secret] : [])]
}

/** The variables of the server that a command inherits. */
function inheritedBy({ executorConfig: { inheritEnv } }: ToolContent): readonly string[] {
  if (inheritEnv === true) return ['*']
  return Array.isArray(inheritEnv) ? inheritEnv.map(String) : []
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const listOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.map(recordOf) : []

/** A pinned version of a tool with the approval that its latest version requires: the stricter of both holds. */
export function withLatestProtection(pinned: RegisteredTool, latest: RegisteredTool): RegisteredTool {
  if (!requiresApproval(latest) || requiresApproval(pinned)) return pinned
  return { ...pinned, annotations: { ...pinned.annotations, requiresApproval: true } }
}

/** An argument that a rule bounds and the called version does not take, so that the bound would not hold for it. */
export function findUnboundArgument(
  called: ToolContent,
  latest: ToolContent,
  rules: readonly Pick<ToolRule, 'args'>[],
): string | undefined {
  const names = rules.flatMap(({ args }) => Object.keys(args))
  // Where neither declares any argument, every argument is accepted, and bounded where a call gives it.
  if (isOpen(called) && isOpen(latest)) return undefined
  return names.find((name) => !takes(called, name))
}

const isOpen = ({ executorType, inputSchema }: ToolContent): boolean =>
  executorType !== 'cli' && inputSchema.properties === undefined && inputSchema.additionalProperties !== false

/** Whether a tool takes an argument: commands and requests take what they use, whatever their schema declares. */
function takes({ executorType, executorConfig: config, inputSchema }: ToolContent, name: string): boolean {
  if (executorType === 'cli')
    return [...listOf(config.args), ...listOf(config.globalArgs)].some((arg) => arg.name === name)
  if (executorType === 'shell') return config.stdin === name || uses(config.command, `{{${name}}}`)
  if (executorType === 'http') return uses([config.url, config.headers, config.query, config.body], `{${name}}`)
  return readSchemaParameters(inputSchema).names.has(name)
}

const uses = (template: unknown, parameter: string): boolean =>
  JSON.stringify(template ?? '')
    .replaceAll(/(?<=\{) +| +(?=\})/g, '')
    .includes(parameter)
