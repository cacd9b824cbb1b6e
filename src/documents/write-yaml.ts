/** Serializes plain data as YAML in a fixed form: one value per line, multi-line strings as literal blocks, nothing folded. */
export function writeYaml(value: unknown): string {
  return isCollection(value) && sizeOf(value) > 0
    ? `${writeCollection(value, 0).join('\n')}\n`
    : `${writeScalar(value, 0)}\n`
}

function writeCollection(value: object, indent: number): string[] {
  return Array.isArray(value)
    ? value.flatMap((item: unknown) => writeEntry('-', item, indent))
    : Object.entries(value).flatMap(([key, item]) => writePair(key, item, indent))
}

/** A longer key needs the explicit form `? key`. */
const maxKeyLength = 500

function writePair(key: string, item: unknown, indent: number): string[] {
  if (item === undefined) return []
  const name = isPlainKey(key) ? key : quote(key)
  if (name.length <= maxKeyLength) return writeEntry(`${name}:`, item, indent)
  return [`${' '.repeat(indent)}? ${name}`, ...writeEntry(':', item, indent)]
}

/** `mark value`, with a sequence or mapping on the lines below or, after a dash, starting on the same line. */
function writeEntry(mark: string, value: unknown, indent: number): string[] {
  const start = ' '.repeat(indent) + mark
  if (!isCollection(value) || sizeOf(value) === 0) return [`${start} ${writeScalar(value, indent + 2)}`]
  const lines = writeCollection(value, indent + 2)
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

/** Characters that are invisible, or that a file or a reader would not preserve. */
const unsafe = /[\0-\x08\x0b-\x1f\x7f-\xa0\xad\u2000-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ufff9-\uffff]|\p{Cs}/u
const reserved = /^(?:true|false|null|yes|no|on|off|y|n)$/i

/** Strings that every reader, including YAML 1.1, reads as strings without quotes. */
const isPlainText = (text: string) =>
  /^[\p{L}_/](?:[\p{L}\p{N}_ ./@,;()'"+=%$<>?!*&^—–’…-]*[\p{L}\p{N}_./)%!?…-])?$/u.test(text) && !reserved.test(text)
const isPlainKey = (key: string) => /^[A-Za-z_$][\w.$-]*$/.test(key) && !reserved.test(key)
/** A literal block has no escapes, so its text must start with a visible character and have no trailing blanks. */
const isBlockText = (text: string) =>
  /^\S/.test(text) && text.includes('\n') && !unsafe.test(text) && !/[ \t]\n*$/.test(text)

const quote = (text: string) =>
  JSON.stringify(text).replace(new RegExp(unsafe, 'gu'), (char) =>
    Array.from(
      { length: char.length },
      (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  )

const isCollection = (value: unknown): value is object => typeof value === 'object' && value !== null
const sizeOf = (value: object) => Object.keys(value).length
