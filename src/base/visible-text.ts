// Control characters, zero-width and bidirectional marks, tags and the byte order mark: nothing a reader can see.
const invisible =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
const lineBreaks = /[\r\n\t]/g

/** Whether a text has characters that a person would not see but a model or terminal acts on. */
export function hasInvisible(text: string): boolean {
  return text.search(invisible) >= 0
}

/** The text with every invisible character written as `\u{...}`; line breaks stay. */
export function showInvisible(text: string): string {
  return text.replace(invisible, toEscape)
}

// What a terminal does something at, except for line breaks and tabs.
const commands = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

/** The text as a terminal may show it: what would move its cursor, name its window or worse is written as `\u{...}`. */
export function forTerminal(text: string): string {
  return text.replace(commands, toEscape)
}

/** The text on one line with nothing invisible in it: for logs, tables and error messages. */
export function toOneLine(text: string): string {
  return showInvisible(text).replace(lineBreaks, (char) => ({ '\n': '\\n', '\r': '\\r', '\t': '\\t' })[char] ?? '')
}

function toEscape(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}
