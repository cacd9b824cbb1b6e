interface Location {
  readonly line: number
  readonly column: number
}

/**
 * Converts a location in a block scalar to a location in its file, where `mark` is the line of the block indicator;
 * undefined if the lines of the file differ from those of the text.
 */
export function placeInBlock(
  file: string,
  mark: number,
  text: string,
  { line, column }: Location,
): Location | undefined {
  const textLine = lineOf(text, line)
  const fileLine = lineOf(file, mark + line)
  if (textLine === undefined || fileLine === undefined || !fileLine.endsWith(textLine)) return undefined
  const indent = fileLine.length - textLine.length
  return fileLine.slice(0, indent).trim() === '' ? { line: mark + line, column: indent + column } : undefined
}

const lineOf = (text: string, line: number): string | undefined => text.split('\n')[line - 1]?.replace(/\r$/, '')
