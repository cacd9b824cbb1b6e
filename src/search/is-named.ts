import type { SearchableTool } from '../contract/search.ts'
import { splitIdentifiers } from './split-identifiers.ts'

/** Whether a query is the name or the id of a tool, ignoring case, spaces, dashes and underscores. */
export function isNamed(tool: SearchableTool | undefined, query: string): boolean {
  const name = normalizeName(query)
  return name !== '' && tool !== undefined && spellings(tool).some((spelling) => normalizeName(spelling) === name)
}

/** A name without case, spaces, dashes and underscores. */
const normalizeName = (text: string): string => text.toLowerCase().replace(/[\s_.:/@-]+/g, '')

/** The queries that name exactly this tool. */
const spellings = ({ name, namespace, id }: SearchableTool): readonly string[] => [
  name,
  id,
  `${namespace ?? ''}${name}`,
  splitIdentifiers(name).join(''),
]
