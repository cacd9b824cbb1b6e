import { OutOfBudget, type WorkBudget } from './work-budget.ts'

// Longer words are not typing errors, and a comparison takes the square of the length.
const maxLength = 64

/** The candidate most like a mistyped word, or undefined if none is near enough; a budget bounds the comparisons. */
export function suggest(word: string, candidates: Iterable<string>, budget?: WorkBudget): string | undefined {
  if (word.length > maxLength) return undefined
  const wanted = word.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const candidate of candidates) {
    if (candidate.length > 2 * maxLength) continue
    const distance = editDistance(wanted, candidate.toLowerCase(), { limit: bestDistance, budget })
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** The same, but undefined if the budget is spent. */
export function suggestWithinBudget(
  word: string,
  candidates: Iterable<string>,
  budget?: WorkBudget,
): string | undefined {
  // An error for each of thousands of words would cost more than the words.
  if (budget?.isExceeded === true) return undefined
  try {
    return suggest(word, candidates, budget)
  } catch (error) {
    if (error instanceof OutOfBudget) return undefined
    throw error
  }
}

/** ` Did you mean 'x'?` or an empty string, to be appended to a message; empty if the budget is spent, too. */
export function didYouMean(word: string, candidates: Iterable<string>, budget?: WorkBudget): string {
  const found = suggestWithinBudget(word, candidates, budget)
  return found === undefined ? '' : ` Did you mean '${found}'?`
}

interface Bounds {
  readonly limit: number
  readonly budget: WorkBudget | undefined
}

/** Levenshtein distance with adjacent swaps counted once, at most `limit`. */
function editDistance(a: string, b: string, { limit, budget }: Bounds): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let twoBack: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    budget?.spend(b.length, 'the suggestions')
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      )
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) cost = Math.min(cost, at(twoBack, column - 2) + 1)
      current.push(cost)
    }
    if (Math.min(...current) >= limit) return limit
    ;[twoBack, previous] = [previous, current]
  }
  return at(previous, b.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY
