import { toClientName } from '../contract/client-name.ts'
import type { LlmFormat, LlmTool } from '../contract/llm.ts'

type Named = Pick<LlmTool, 'id' | 'name' | 'namespace'>

/** The name a tool goes by at a provider: always the same, whatever else is in the list. */
export function toAlias(tool: Named, format: LlmFormat): string {
  return aliasOf(qualify(tool), format)
}

/** A name for each tool, by id; only tools that share namespace and name get one that has their id in its hash. */
export function assignAliases(tools: readonly Named[], format: LlmFormat): Map<string, string> {
  const aliases = new Map<string, string>()
  const taken = new Set<string>()
  for (const tool of [...tools].sort(byNameThenId(format))) {
    if (aliases.has(tool.id)) continue
    let alias = toAlias(tool, format)
    for (let count = 1; taken.has(alias); count += 1) alias = aliasOf(`${qualify(tool)}:${tool.id}:${count}`, format)
    taken.add(alias)
    aliases.set(tool.id, alias)
  }
  return aliases
}

const qualify = ({ namespace, name }: Named) => (namespace == null || namespace === '' ? name : `${namespace}:${name}`)

/** Gemini wants a letter or an underscore first. */
function aliasOf(name: string, format: LlmFormat): string {
  const alias = toClientName(name)
  return format === 'gemini' && !/^[A-Za-z_]/.test(alias) ? toClientName(`tool:${name}`) : alias
}

/** Tools that keep their own name come first, so that no hash can take it from them; then in an order of their own. */
function byNameThenId(format: LlmFormat) {
  const keeps = (tool: Named) => (toAlias(tool, format) === tool.name ? 0 : 1)
  return (one: Named, other: Named) => keeps(one) - keeps(other) || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)
}
