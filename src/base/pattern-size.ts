const quantifier = /^(?:[*+?]|\{(\d+)(,(\d*))?\})[?+]?/

/** An upper bound of the instructions of a compiled regular expression, computed without compiling it. */
export function estimatePatternSize(source: string): number {
  return new Sizer(source).alternatives()
}

class Sizer {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** The size of everything up to the end of the group. */
  alternatives(): number {
    let size = 2
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') size += this.#piece()
    this.#at++
    return size
  }

  #piece(): number {
    let size = this.#atom()
    // Each copy of a repeated atom has a branch beside it.
    for (let copies = this.#copies(); copies !== undefined; copies = this.#copies()) size = (size + 1) * copies
    return size
  }

  #atom(): number {
    const char = this.#source[this.#at++]
    if (char === '(') return this.alternatives()
    if (char === '[') return this.#charClass()
    return char === '\\' ? this.#escape() : 1
  }

  /** A class is one instruction, but each of its members is compared. */
  #charClass(): number {
    let members = 0
    if (this.#source[this.#at] === '^') this.#at++
    do {
      if (this.#source[this.#at] === '\\') {
        this.#at++
        this.#escape()
      } else if (this.#source.startsWith('[:', this.#at)) this.#at = this.#indexAfter(':]')
      else this.#at++
      members++
    } while (this.#at < this.#source.length && this.#source[this.#at] !== ']')
    this.#at++
    return 1 + Math.ceil(members / 8)
  }

  #escape(): number {
    const start = this.#at
    const char = this.#source[this.#at++]
    if (char === 'Q') this.#at = this.#indexAfter('\\E')
    else if ((char === 'p' || char === 'P' || char === 'x') && this.#source[this.#at] === '{')
      this.#at = this.#indexAfter('}')
    return char === 'Q' ? this.#at - start : 1
  }

  #copies(): number | undefined {
    const [text, from, open, to] = quantifier.exec(this.#source.slice(this.#at, this.#at + 20)) ?? []
    if (text === undefined) return undefined
    this.#at += text.length
    if (from === undefined) return 1
    return Math.max(1, Number(from) + (open === undefined ? 0 : 1), Number(to ?? 0))
  }

  #indexAfter(end: string): number {
    const found = this.#source.indexOf(end, this.#at)
    return found < 0 ? this.#source.length : found + end.length
  }
}
