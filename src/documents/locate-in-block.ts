interface Place {
  readonly line: number
  readonly column: number
}

/**
 * Where a place in a text stands in the file that holds the text as a block, whose mark is on a line of the file;
 * undefined where the file does not hold it line by line.
 */
export function placeInBlock(file: string, mark: number, text: string, { line, column }: Place): Place | undefined {
  const own = lineOf(text, line)
  const held = lineOf(file, mark + line)
  if (own === undefined || held === undefined || !held.endsWith(own)) return undefined
  const indent = held.length - own.length
  return held.slice(0, indent).trim() === '' ? { line: mark + line, column: indent + column } : undefined
}

const lineOf = (text: string, line: number): string | undefined => text.split('\n')[line - 1]?.replace(/\r$/, '')
