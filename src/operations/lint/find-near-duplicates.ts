import { yieldTurns } from '../../base/yield-turns.ts'
import type { Embedder } from '../../search/encoder.ts'
import { createTokenizer, termsOf } from '../../search/tokenize.ts'
import { type LintFinding, type LintTool, lintLimits } from './finding.ts'

interface Described {
  readonly tool: LintTool
  /** Rarest first. */
  readonly terms: readonly string[]
  readonly vector: Float32Array | undefined
}

// More copies of one tool would add nothing.
const maxDuplicates = 10

/** Finds near-duplicates, between which any choice is a guess. */
export async function findNearDuplicates(
  tools: readonly LintTool[],
  embedder: Embedder | undefined,
  signal?: AbortSignal,
): Promise<readonly LintFinding[]> {
  const rest = yieldTurns(signal)
  const described = await describeAll(tools, embedder, rest)
  const findings: LintFinding[] = []
  for (const [one, others] of candidates(described)) {
    let duplicates = 0
    for (const other of others) {
      const finding = compare(other, one)
      if (finding !== undefined) findings.push(finding)
      if (finding !== undefined && ++duplicates === maxDuplicates) break
      await rest()
    }
  }
  return findings
}

function compare(a: Described, b: Described): LintFinding | undefined {
  const overlap = overlapOf(a.terms, b.terms)
  const cosine = cosineOf(a.vector, b.vector)
  if (!isDuplicate(overlap, cosine)) return undefined
  const where = a.tool.cliName === b.tool.cliName ? '' : ` of ${b.tool.cliName}`
  const alike = `${Math.round(100 * overlap)}% of the words${cosine === undefined ? '' : `, cosine ${cosine.toFixed(2)}`}`
  const message = `is a near-duplicate of ${b.tool.toolName}${where} (${alike})`
  const hint = 'State the difference in both descriptions, or keep one of the tools.'
  return { rule: 'near-duplicate', severity: 'warning', tool: a.tool.toolName, message, hint }
}

function isDuplicate(overlap: number, cosine: number | undefined): boolean {
  const { overlap: sameWords, cosine: sameMeaning, support } = lintLimits
  if (cosine === undefined) return overlap >= sameWords
  return (overlap >= sameWords && cosine >= support.cosine) || (cosine >= sameMeaning && overlap >= support.overlap)
}

async function describeAll(
  tools: readonly LintTool[],
  embedder: Embedder | undefined,
  rest: () => Promise<void> | undefined,
): Promise<readonly Described[]> {
  const tokenizer = createTokenizer()
  const words: string[][] = []
  for (const tool of tools) {
    words.push([...new Set(termsOf(tokenizer, tool.description))])
    await rest()
  }
  const counts = new Map<string, number>()
  for (const term of words.flat()) counts.set(term, (counts.get(term) ?? 0) + 1)
  const rarestFirst = (a: string, b: string) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || (a < b ? -1 : 1)
  const described: Described[] = []
  for (const [index, tool] of tools.entries()) {
    const vector = embedder?.embedTool({ id: '', name: '', description: tool.description })?.slice()
    described.push({ tool, terms: (words[index] ?? []).sort(rarestFirst), vector })
    await rest()
  }
  return described
}

/** Candidate pairs: two similar lists share a term within the first, rarest part of both, so only that part is compared. */
function* candidates(described: readonly Described[]): Generator<readonly [Described, readonly Described[]]> {
  const seen = new Map<string, number[]>()
  for (const [index, one] of described.entries()) {
    const least = Math.ceil(lintLimits.support.overlap * one.terms.length)
    const others = new Set<number>()
    for (const term of one.terms.slice(0, one.terms.length - least + 1)) {
      const positions = seen.get(term) ?? []
      for (const position of positions) others.add(position)
      positions.push(index)
      seen.set(term, positions)
    }
    yield [one, Array.from(others, (other) => described[other] as Described)]
  }
}

function overlapOf(a: readonly string[], b: readonly string[]): number {
  const known = new Set(a)
  const shared = b.filter((term) => known.has(term)).length
  return shared / Math.max(1, a.length + b.length - shared)
}

function cosineOf(a: Float32Array | undefined, b: Float32Array | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined
  return a.reduce((sum, value, column) => sum + value * (b[column] ?? 0), 0)
}
