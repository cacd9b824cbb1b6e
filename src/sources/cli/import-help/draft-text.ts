const maxChars = 300

/** A text of the help as one tidy line that any YAML reader takes: bounded, and with its brackets in pairs. */
export function toDraftText(text: string, most = maxChars): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const characters = Array.from(line)
  const short = characters.length <= most ? line : `${characters.slice(0, most - 1).join('').trimEnd()}…`
  return isPaired(short) ? short : short.replace(/[[\]{}]/g, ' ').replace(/\s+/g, ' ').trim()
}

/** Our YAML reader counts brackets before it parses, in texts too: one that never closes would count as nesting. */
function isPaired(text: string): boolean {
  let depth = 0
  let deepest = 0
  for (const char of text) {
    if (char === '[' || char === '{') deepest = Math.max(deepest, ++depth)
    else if (char === ']' || char === '}') depth--
    if (depth < 0) return false
  }
  return depth === 0 && deepest < 20
}
