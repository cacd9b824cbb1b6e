import { deepFreeze } from '../base/json-values.ts'
import { SubstringIndex } from '../base/substring-index.ts'
import { CliConfig, type CliConfigInput, type ToolDef } from '../contract/cli-config.ts'
import type { Policy } from '../contract/policy.ts'
import type { CliSummary, ResolvedTool, ToolIndexEntry, ToolIndexQuery } from '../contract/tool-index.ts'
import { buildInputSchema } from '../rules/build-input-schema.ts'
import { ruleForTool } from '../rules/policy-rules.ts'
import { literalText } from './tool-fields.ts'

/** Options of an index. */
export interface ToolIndexOptions {
  /** Hides the tools it disables and applies its descriptions and constraints to the rest. */
  readonly policy?: Policy | undefined
  /** The configs come from `loadConfig` and are owned by the index: they need no second validation. */
  readonly checked?: boolean | undefined
  /** Called with every tool name that a later definition replaced. */
  readonly onDuplicate?: ((toolName: string, cliName: string) => void) | undefined
}

interface Row {
  readonly entry: ToolIndexEntry
  readonly resolved: ResolvedTool
}

/** All tools of the loaded configs, searchable. Immutable: built once, and all returned values are frozen. */
export class ToolIndex {
  readonly #entries: readonly ToolIndexEntry[]
  readonly #resolved: ReadonlyMap<string, ResolvedTool>
  readonly #summaries: readonly CliSummary[]
  #texts: SubstringIndex<ToolIndexEntry> | undefined

  private constructor(rows: ReadonlyMap<string, Row>, summaries: readonly CliSummary[]) {
    this.#entries = Array.from(rows.values(), (row) => row.entry)
    this.#resolved = new Map(Array.from(rows, ([name, row]) => [name, row.resolved]))
    this.#summaries = summaries
  }

  /** Builds the index in config order; of two tools with one name the last wins, at its own position. */
  static fromConfigs(configs: readonly CliConfigInput[], options: ToolIndexOptions = {}): ToolIndex {
    const rows = new Map<string, Row>()
    const summaries: CliSummary[] = []
    const warn = options.onDuplicate ?? warnOfDuplicate
    for (const input of configs) {
      const config = options.checked ? (input as CliConfig) : CliConfig.parse(input)
      let disabled = 0
      for (const tool of config.tools) {
        const row = toRow(config, tool, options.policy)
        if (rows.delete(tool.name)) warn(tool.name, config.name)
        if (row === undefined) disabled++
        else rows.set(tool.name, row)
      }
      summaries.push(deepFreeze(toSummary(config, config.tools.length - disabled)))
    }
    return new ToolIndex(rows, summaries)
  }

  /** Tools that match all filters, in load order. */
  search(query: ToolIndexQuery = {}): readonly ToolIndexEntry[] {
    const limit = Math.floor(query.limit ?? 10)
    if (!(limit > 0)) return []
    const accept = toFilter(query)
    const part = (query.query ?? '').toLowerCase()
    if (part === '') return (accept === undefined ? this.#entries : this.#entries.filter(accept)).slice(0, limit)
    // Built with the first query: lookup by name does not need it.
    this.#texts ??= new SubstringIndex(this.#entries, ({ toolName: name, cliName: namespace, ...entry }) =>
      literalText({ name, namespace, ...entry }),
    )
    return this.#texts.find(part, limit, accept)
  }

  /** One summary for each config. */
  summary(): readonly CliSummary[] {
    return [...this.#summaries]
  }

  /** The tool of exactly this name, ready to run, or null. */
  get(toolName: string): ResolvedTool | null {
    return this.#resolved.get(toolName) ?? null
  }

  /** The number of tools. */
  get size(): number {
    return this.#entries.length
  }
}

/** Category and cli are compared without case; an empty one does not filter. */
function toFilter(query: ToolIndexQuery): ((entry: ToolIndexEntry) => boolean) | undefined {
  const category = query.category?.toLowerCase() || undefined
  const cli = query.cli?.toLowerCase() || undefined
  if (category === undefined && cli === undefined) return undefined
  return (entry) =>
    (category === undefined || entry.category?.toLowerCase() === category) &&
    (cli === undefined || entry.cliName.toLowerCase() === cli)
}

function toRow(config: CliConfig, tool: ToolDef, policy: Policy | undefined): Row | undefined {
  const rule = ruleForTool(policy, tool.name)
  if (rule === undefined) return undefined
  const entry: ToolIndexEntry = {
    toolName: tool.name,
    description: rule.description ?? tool.description,
    cliName: config.name,
    category: tool.category ?? config.category ?? null,
    tags: [...new Set([...config.tags, ...tool.tags])],
    inputSchema: buildInputSchema(tool.args),
  }
  const resolved: ResolvedTool = {
    tool: { ...inheritedSettings(config), ...tool },
    baseCommand: config.command,
    env: config.env,
    workingDir: config.workingDir ?? null,
    globalArgs: config.globalArgs,
    descriptionOverride: rule.description ?? null,
    argConstraints: rule.args,
  }
  return deepFreeze({ entry, resolved })
}

/** The fields that a tool inherits from its config. */
function inheritedSettings(config: CliConfig): Partial<ToolDef> {
  const { isolation, network, root } = config
  return {
    ...(isolation === undefined ? {} : { isolation }),
    ...(network === undefined ? {} : { network }),
    ...(root === undefined ? {} : { root }),
    ...(config.inheritEnv === undefined ? {} : { inheritEnv: config.inheritEnv }),
    ...(config.endOfOptions ? { endOfOptions: true } : {}),
  }
}

function toSummary(config: CliConfig, toolCount: number): CliSummary {
  const { name, description, tags } = config
  return { name, description, toolCount, category: config.category ?? null, tags: [...tags] }
}

function warnOfDuplicate(toolName: string, cliName: string): void {
  process.emitWarning(`Tool '${toolName}' is defined more than once; the definition in '${cliName}' is used.`)
}
