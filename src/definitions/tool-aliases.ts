import type { LlmFormat, LlmTool } from '../contract/llm.ts'
import { toClientName } from '../rules/tool-id.ts'

type Named = Pick<LlmTool, 'id' | 'name' | 'namespace'>

/** The names of a tool in a list for a provider, best first; the last one has a hash and does not depend on the list. */
export function aliasCandidates({ name, namespace }: Omit<Named, 'id'>, format: LlmFormat): readonly string[] {
  const hasNamespace = namespace != null && namespace !== ''
  const readable = [name, ...(hasNamespace ? [`${namespace}_${name}`] : [])]
    .map((text) => text.replace(/[^A-Za-z0-9_-]+/g, '_'))
    .filter((text) => fits(text, format))
  return [...new Set([...readable, toProviderName(hasNamespace ? `${namespace}:${name}` : name, format)])]
}

/** Assigns a distinct alias to each tool, by id, independent of the order of the list. */
export function assignAliases(tools: readonly Named[], format: LlmFormat): Map<string, string> {
  const distinct = [...new Map(tools.map((tool) => [tool.id, tool])).values()]
  const nameCounts = new Map<string, number>()
  for (const { name } of distinct) nameCounts.set(name, (nameCounts.get(name) ?? 0) + 1)
  const aliases = new Map<string, string>()
  const taken = new Set<string>()
  const assign = (tool: Named, alias: string) => {
    taken.add(alias)
    aliases.set(tool.id, alias)
  }
  const sorted = distinct.sort((one, other) => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0))
  // A unique name belongs to its tool; no other alias may equal the name of a tool.
  const keepsName = ({ name }: Named) => nameCounts.get(name) === 1 && fits(name, format)
  for (const tool of sorted) if (keepsName(tool)) assign(tool, tool.name)
  const isFree = (alias: string) => !taken.has(alias) && !nameCounts.has(alias)
  for (const tool of sorted) {
    if (keepsName(tool)) continue
    let alias = aliasCandidates(tool, format).find(isFree)
    for (let count = 1; alias === undefined; count += 1) {
      const hashed = toProviderName(`${tool.namespace ?? ''}:${tool.name}:${tool.id}:${count}`, format)
      if (isFree(hashed)) alias = hashed
    }
    assign(tool, alias)
  }
  return aliases
}

const fits = (name: string, format: LlmFormat) => toProviderName(name, format) === name

/** Gemini requires a letter or an underscore first. */
function toProviderName(name: string, format: LlmFormat): string {
  const alias = toClientName(name)
  return format === 'gemini' && !/^[A-Za-z_]/.test(alias) ? toClientName(`tool:${name}`) : alias
}
