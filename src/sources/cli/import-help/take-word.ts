const closers: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}', '<': '>' }

/** The length of the bracketed text that starts at `start`, brackets included; 0 where it is not one or never closes. */
export function bracketLength(text: string, start = 0): number {
  const waiting: string[] = []
  for (let index = start; index < text.length; index++) {
    const char = text.charAt(index)
    const closer = closers[char]
    if (closer !== undefined) waiting.push(closer)
    else if (char === waiting.at(-1)) waiting.pop()
    if (waiting.length === 0) return index === start ? 0 : index + 1 - start
  }
  return 0
}

/** The first word of a text, where brackets hold words together: `<file name>` and `MAJOR[.MINOR]` are one each. */
export function takeWord(text: string): string {
  let index = 0
  while (index < text.length && !/\s/.test(text.charAt(index))) index += bracketLength(text, index) || 1
  return text.slice(0, index)
}
