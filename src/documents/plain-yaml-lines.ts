/** Thrown for a text that is not in the plain form. */
export const unsupported = Symbol('not in the plain form')

/** The lines of a text with the current position. */
export class PlainLines {
  readonly #lines: readonly string[]
  at = 0

  constructor(text: string) {
    // A final line feed does not start another line.
    this.#lines = text.split('\n').slice(0, -1)
  }

  line(): string {
    return this.#lines[this.at] ?? ''
  }

  /** Moves to the next line that is neither blank nor a comment; returns its indentation, or -1 at the end. */
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

  /** Whether an item of a sequence starts at a column of the current line. */
  isDash(column: number): boolean {
    const line = this.line()
    return line.charAt(column) === '-' && (column + 1 === line.length || line.charAt(column + 1) === ' ')
  }

  /** Reads a literal block that is indented by more than `indent`; `chomp` is the chomping indicator for its final line feeds. */
  readLiteral(indent: number, chomp: '' | '-' | '+'): string {
    const texts: string[] = []
    let blockIndent = -1
    let widest = 0
    for (; this.at < this.#lines.length; this.at++) {
      const line = this.line()
      const before = indentOf(line)
      if (before === line.length) {
        widest = Math.max(widest, before)
        texts.push('')
        continue
      }
      if (blockIndent === -1) blockIndent = before
      if (before < blockIndent) break
      if (blockIndent <= indent || line.trim() === '') throw unsupported
      texts.push(line.slice(blockIndent))
    }
    // Blank lines that are wider than the indentation contain spaces of the text.
    if (blockIndent <= indent || widest > blockIndent || this.skip() > indent) throw unsupported
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
