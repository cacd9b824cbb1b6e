/** A request and the tools that should be found for it. */
export interface GoldenRequest {
  readonly query: string
  readonly tools: readonly string[]
}

interface ParsedRequests {
  readonly requests: readonly GoldenRequest[]
  /** The numbers of lines without `=>` and a tool. */
  readonly wrongLines: readonly number[]
}

/** The number of requests of one evaluation, as the server limits it. */
export const maxRequests = 200

/** Reads `request => tool, tool` from each line; lines that begin with # are left out. */
export function parseRequests(text: string): ParsedRequests {
  const requests: GoldenRequest[] = []
  const wrongLines: number[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.trim().startsWith('#')) continue
    const at = line.lastIndexOf('=>')
    const query = line.slice(0, Math.max(at, 0)).trim()
    const tools = line
      .slice(at + 2)
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
    if (at < 0 || query === '' || tools.length === 0) wrongLines.push(index + 1)
    else requests.push({ query, tools })
  }
  return { requests, wrongLines }
}
