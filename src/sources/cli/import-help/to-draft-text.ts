const maxChars = 300

/** A text of the help as one tidy line that any YAML reader takes: bounded, and with its brackets in pairs. */
export function toDraftText(text: string, most = maxChars): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const characters = Array.from(line)
  const short =
    characters.length <= most
      ? line
      : `${characters
          .slice(0, most - 1)
          .join('')
          .trimEnd()}…`
  return pairBrackets(short).replace(/ +/g, ' ').trim()
}

/** Our YAML reader counts brackets before it parses, in texts too: one that never closes would count as nesting. */
function pairBrackets(text: string): string {
  const characters = Array.from(text)
  const open: number[] = []
  for (const [index, char] of characters.entries()) {
    if (char === '[' || char === '{') open.push(index)
    else if ((char === ']' || char === '}') && open.pop() === undefined) characters[index] = ' '
  }
  for (const index of open) characters[index] = ' '
  return characters.join('')
}
