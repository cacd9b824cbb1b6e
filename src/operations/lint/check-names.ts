import { splitIdentifiers } from '../../search/split-identifiers.ts'
import { type LintFinding, type LintTool, lintLimits } from './finding.ts'

/** Names that clients truncate or reject. */
export const checkName = ({ toolName }: LintTool): readonly LintFinding[] => [
  ...longName(toolName),
  ...oddName(toolName),
]

function longName(tool: string): LintFinding[] {
  const length = Array.from(tool).length
  if (length <= lintLimits.nameLength) return []
  const message = `the name has ${length} characters; ${lintLimits.nameLength} leave room for a client's prefix`
  return [{ rule: 'long-name', severity: 'warning', tool, message, hint: 'Shorten the name.' }]
}

function oddName(tool: string): LintFinding[] {
  const odd = [...new Set(Array.from(tool).filter((character) => !/[A-Za-z0-9_-]/.test(character)))]
  if (odd.length === 0) return []
  const message = `the name has ${odd.map((character) => JSON.stringify(character)).join(', ')}, which some clients reject`
  return [{ rule: 'odd-name', severity: 'warning', tool, message, hint: 'Use letters, digits, _ and - only.' }]
}

const maxListed = 20

/** Names made of the same words: `list_files`, `files_list`, `listFiles`. */
export function ambiguousNames(tools: readonly LintTool[]): readonly LintFinding[] {
  const groups = new Map<string, string[]>()
  for (const { toolName } of tools) {
    const key = [...splitIdentifiers(toolName)].sort().join(' ')
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [toolName])
    else group.push(toolName)
  }
  return [...groups.entries()].flatMap(([key, [first = '', ...others]]): LintFinding[] => {
    if (key === '' || others.length === 0) return []
    const message = `is made of the same words as ${others.slice(0, maxListed).join(', ')}${others.length > maxListed ? ' and more' : ''}`
    const hint = 'Rename one of them after their difference.'
    return [{ rule: 'ambiguous-name', severity: 'warning', tool: first, message, hint }]
  })
}
