import type { GoldenRequest } from './parse-requests.ts'

/** One line of the list. */
const toLine = ({ query, tools }: GoldenRequest): string =>
  `${query.replace(/\s+/g, ' ').trim()} => ${tools.join(', ')}`

/** The list with more requests, each once. */
export function addLines(text: string, more: readonly GoldenRequest[]): string {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return [...new Set([...lines, ...more.map(toLine)])].join('\n')
}

/** Reads the requests of an evaluation set: lines of JSON with a query and the ids of its relevant tools. */
export function readEvalSet(text: string): readonly GoldenRequest[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const found = readLine(line)
    return found === undefined ? [] : [found]
  })
}

function readLine(line: string): GoldenRequest | undefined {
  try {
    const { query, relevant } = JSON.parse(line)
    if (typeof query !== 'string' || !Array.isArray(relevant) || relevant.length === 0) return undefined
    return { query, tools: relevant.map(String) }
  } catch {
    return undefined
  }
}
