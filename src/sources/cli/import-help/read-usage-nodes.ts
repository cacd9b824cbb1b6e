import { bracketLength } from './take-word.ts'

/** A part of a usage line: a word, or a group in brackets with its alternatives. */
export type UsageNode = UsageWord | UsageGroup

interface UsageWord {
  readonly kind: 'word'
  readonly text: string
  readonly repeat: boolean
}

interface UsageGroup {
  readonly kind: 'group'
  readonly optional: boolean
  readonly alternatives: readonly (readonly UsageNode[])[]
  readonly repeat: boolean
}

const maxDepth = 20

/** Takes a usage line apart: `[-q | --quiet] <file>...` is a group of two alternatives and a word that repeats. */
export function readUsageNodes(text: string, depth = 0): readonly (readonly UsageNode[])[] {
  const alternatives: UsageNode[][] = [[]]
  let index = 0
  while (index < text.length) {
    const nodes = alternatives.at(-1) as UsageNode[]
    const char = text.charAt(index)
    if (/\s/.test(char)) index++
    else if (char === '|') {
      alternatives.push([])
      index++
    } else if (text.startsWith('...', index) || char === '…') {
      repeatLast(nodes)
      index += char === '…' ? 1 : 3
    } else {
      const length = (char === '[' || char === '(') && depth < maxDepth ? groupLength(text, index) : 0
      if (length > 0) nodes.push(readGroup(text.slice(index, index + length), depth))
      const word = length > 0 ? '' : readWord(text, index)
      if (length === 0) nodes.push({ kind: 'word', text: word, repeat: false })
      index += length || word.length
    }
  }
  return alternatives
}

/** A group that runs on into a word is a part of it: `[user@]host`. */
function groupLength(text: string, start: number): number {
  const length = bracketLength(text, start)
  return /^[^\s|.…[\]()]/.test(text.slice(start + length, start + length + 1)) ? 0 : length
}

function readGroup(text: string, depth: number): UsageGroup {
  const alternatives = readUsageNodes(text.slice(1, -1), depth + 1)
  return { kind: 'group', optional: text.startsWith('['), alternatives, repeat: false }
}

/** A word runs to a space, a bar or an ellipsis; brackets inside it belong to it: `MAJOR[.MINOR]`, `<file name>`. */
function readWord(text: string, start: number): string {
  let index = start
  while (index < text.length && !/[\s|]/.test(text.charAt(index)) && !text.startsWith('...', index)) {
    index += bracketLength(text, index) || 1
  }
  return text.slice(start, Math.max(index, start + 1))
}

function repeatLast(nodes: UsageNode[]): void {
  const last = nodes.pop()
  if (last !== undefined) nodes.push({ ...last, repeat: true })
}
