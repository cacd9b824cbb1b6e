/** Thrown where a text is not in the plain form. */
export const unsupported = Symbol('not in the plain form')

/** The lines of a text, and how far it is read. */
export class PlainLines {
  readonly #lines: readonly string[]
  at = 0

  constructor(text: string) {
    // What ends with a line feed has no line behind it.
    this.#lines = text.split('\n').slice(0, -1)
  }

  line(): string {
    return this.#lines[this.at] ?? ''
  }

  /** Goes on to the next line that is neither blank nor a comment; how far that is indented, or -1 at the end. */
  skip(): number {
    for (; this.at < this.#lines.length; this.at++) {
      const line = this.line()
      const indent = indentOf(line)
      if (indent === line.length) continue
      const char = line.charAt(indent)
      if (char === '\t') throw unsupported
      if (char !== '#') return indent
    }
    return -1
  }

  /** Whether an item of a list begins here. */
  isDash(column: number): boolean {
    const line = this.line()
    return line.charAt(column) === '-' && (column + 1 === line.length || line.charAt(column + 1) === ' ')
  }

  /** Reads a block of text that stands deeper than what holds it; `chomp` says what becomes of the line ends at its end. */
  readLiteral(indent: number, chomp: '' | '-' | '+'): string {
    const texts: string[] = []
    let own = -1
    let widest = 0
    for (; this.at < this.#lines.length; this.at++) {
      const line = this.line()
      const before = indentOf(line)
      if (before === line.length) {
        widest = Math.max(widest, before)
        texts.push('')
        continue
      }
      if (own === -1) own = before
      if (before < own) break
      if (own <= indent || line.trim() === '') throw unsupported
      texts.push(line.slice(own))
    }
    // Blank lines that are wider than the text would have blanks of their own.
    if (own <= indent || widest > own || this.skip() > indent) throw unsupported
    return chompText(texts, chomp)
  }
}

function chompText(texts: readonly string[], chomp: '' | '-' | '+'): string {
  const last = texts.findLastIndex((text) => text !== '')
  const body = texts.slice(0, last + 1).join('\n')
  if (chomp === '-') return body
  return `${body}\n${chomp === '+' ? '\n'.repeat(texts.length - 1 - last) : ''}`
}

function indentOf(line: string): number {
  let indent = 0
  while (line.charCodeAt(indent) === 0x20) indent++
  return indent
}
