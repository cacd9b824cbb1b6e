// Control characters, zero-width and bidirectional marks, tags, the byte order mark, and a carriage return that does not end a line.
const invisible =
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
const lineBreaks = /[\r\n\t]/g

/** Whether a text has characters that are invisible to a person but not to a model or terminal. */
export function hasInvisible(text: string): boolean {
  return text.search(invisible) >= 0
}

/** The text without its invisible characters, except for joiners, which change how the characters beside them look. */
export function withoutInvisible(text: string): string {
  return text.replace(invisible, (char) => (char === '\u200c' || char === '\u200d' ? char : ''))
}

/** The text with every invisible character written as `\u{...}`; line breaks stay. */
export function showInvisible(text: string): string {
  return text.replace(invisible, toEscape)
}

// Control characters that a terminal interprets, except for line breaks, tabs and the colors that commands print; a carriage return
// counts unless it ends a line.
const commands =
  /\r(?!\n)|\u001b(?!\[(?:1|2|22|31|32|33|36|39)m)|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/g
// Marks that reorder the text on a terminal.
const reordering = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** The text with the control characters escaped that would move the cursor of a terminal or rewrite a line. */
export function escapeForTerminal(text: string): string {
  return text.replace(commands, toEscape).replace(reordering, toEscape)
}

/** The text on one line with invisible characters escaped: for logs, tables and error messages. */
export function toOneLine(text: string): string {
  return showInvisible(text).replace(lineBreaks, (char) => ({ '\n': '\\n', '\r': '\\r', '\t': '\\t' })[char] ?? '')
}

function toEscape(char: string): string {
  return char === '\r' ? '\\r' : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}
