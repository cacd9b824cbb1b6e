/** Plain data as YAML in a fixed form: one value a line, texts of several lines as blocks, nothing folded. */
export function writeYaml(value: unknown): string {
  return isHolder(value) && sizeOf(value) > 0 ? `${writeHolder(value, 0).join('\n')}\n` : `${writeScalar(value, 0)}\n`
}

function writeHolder(value: object, indent: number): string[] {
  return Array.isArray(value)
    ? value.flatMap((item: unknown) => writeEntry('-', item, indent))
    : Object.entries(value).flatMap(([key, held]) => writePair(key, held, indent))
}

/** A key may only be this long where its value follows on the same line. */
const maxKeyLength = 500

function writePair(key: string, held: unknown, indent: number): string[] {
  if (held === undefined) return []
  const name = isPlainKey(key) ? key : quote(key)
  if (name.length <= maxKeyLength) return writeEntry(`${name}:`, held, indent)
  return [`${' '.repeat(indent)}? ${name}`, ...writeEntry(':', held, indent)]
}

/** `mark value`, with a list or mapping on the lines below or, after a dash, beginning on the same line. */
function writeEntry(mark: string, value: unknown, indent: number): string[] {
  const start = ' '.repeat(indent) + mark
  if (!isHolder(value) || sizeOf(value) === 0) return [`${start} ${writeScalar(value, indent + 2)}`]
  const lines = writeHolder(value, indent + 2)
  if (mark !== '-') return [start, ...lines]
  return [`${start} ${(lines[0] ?? '').trimStart()}`, ...lines.slice(1)]
}

function writeScalar(value: unknown, indent: number): string {
  if (typeof value === 'string') return writeText(value, indent)
  return JSON.stringify(value) ?? 'null'
}

function writeText(text: string, indent: number): string {
  if (isPlainText(text)) return text
  return isBlockText(text) ? writeBlock(text, indent) : quote(text)
}

function writeBlock(text: string, indent: number): string {
  const body = text.replace(/\n+$/, '')
  const ends = text.length - body.length
  const chomp = ['-', ''][ends] ?? '+'
  const lines = [...body.split('\n'), ...Array.from({ length: ends - 1 }, () => '')]
  return [`|${chomp}`, ...lines.map((line) => (line === '' ? '' : ' '.repeat(indent) + line))].join('\n')
}

/** Characters that a person could not see, or that a file or a reader would not keep as they are. */
const unkept = /[\0-\x08\x0b-\x1f\x7f-\xa0\xad\u2000-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ufff9-\uffff]|\p{Cs}/u
const words = /^(?:true|false|null|yes|no|on|off|y|n)$/i

/** Texts that no reader, however old, takes for anything else. */
const isPlainText = (text: string) =>
  /^[\p{L}_/](?:[\p{L}\p{N}_ ./@,;()'"+=%$<>?!*&^—–’…-]*[\p{L}\p{N}_./)%!?…-])?$/u.test(text) && !words.test(text)
const isPlainKey = (key: string) => /^[A-Za-z_$][\w.$-]*$/.test(key) && !words.test(key)
/** A block shows its text as it is, so it must begin with a character and have no blanks at its end. */
const isBlockText = (text: string) =>
  /^\S/.test(text) && text.includes('\n') && !unkept.test(text) && !/[ \t]\n*$/.test(text)

const quote = (text: string) =>
  JSON.stringify(text).replace(new RegExp(unkept, 'gu'), (char) =>
    Array.from(
      { length: char.length },
      (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  )

const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null
const sizeOf = (value: object) => Object.keys(value).length
