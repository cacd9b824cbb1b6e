import type { YAMLError } from 'yaml'

/** The message and the hint for a YAML error. */
export interface YamlMistake {
  readonly message: string
  readonly hint: string
}

type Describe = (message: string) => YamlMistake

const always =
  (message: string, hint: string): Describe =>
  () => ({ message, hint })
const extract = (message: string, pattern: RegExp, fallback: string) => pattern.exec(message)?.[1] ?? fallback

const badKey = always(
  'expected one key with its value; mappings cannot be nested on one line',
  'write one key: value per line, and quote a value that contains ": "',
)
const badName = always('invalid anchor or alias', 'quote a string that starts with & or *')
const unexpected = always('unexpected text', 'check the brackets, quotes and indentation before it')
const badIndent = always(
  'the indentation does not match the lines before',
  'start all keys of a mapping, or all dashes of a sequence, in the same column',
)

/** The mistake of a key that a mapping has twice. */
export const duplicateKey: YamlMistake = {
  message: 'duplicate key; keys must be unique',
  hint: 'remove one of the two',
}

/** The mistake of a merge key, which YAML 1.2 does not have. */
export const mergeKey: YamlMistake = {
  message: '<< merges another mapping, which is not part of YAML 1.2',
  hint: 'write out the keys of the other mapping',
}

// The messages of the library are for programmers.
const mistakes: Readonly<Partial<Record<YAMLError['code'], Describe>>> = {
  ALIAS_PROPS: badName,
  BAD_ALIAS: badName,
  BAD_DIRECTIVE: always('unknown directive: the line starts with %', 'remove it, or quote the string'),
  BAD_DQ_ESCAPE: (message) => ({
    message: `${extract(message, /(\\.*)$/, 'the backslash')} is not a valid escape sequence in double quotes`,
    hint: 'use single quotes, or write \\\\ for a backslash',
  }),
  BAD_INDENT: (message) => (/end with a/.test(message) ? describeMissing(message) : badIndent(message)),
  BAD_PROP_ORDER: badName,
  BAD_SCALAR_START: (message) => ({
    message: `an unquoted scalar cannot start with ${extract(message, /(\S+)$/, 'this')}`,
    hint: 'put it in quotes',
  }),
  BLOCK_AS_IMPLICIT_KEY: badKey,
  BLOCK_IN_FLOW: always('the content of the brackets is not valid', 'write [a, b] or {a: 1, b: 2}'),
  KEY_OVER_1024_CHARS: badKey,
  MISSING_CHAR: describeMissing,
  MULTILINE_IMPLICIT_KEY: badKey,
  MULTIPLE_ANCHORS: badName,
  MULTIPLE_DOCS: always('the file contains multiple documents', 'keep one, and remove the line ---'),
  TAB_AS_INDENT: always('a tab is used as indentation', 'indent with spaces'),
  TAG_RESOLVE_FAILED: (message) => ({
    message: `the tag ${extract(message, /: (.*)$/, '!').replace('tag:yaml.org,2002:', '!!')} is not supported`,
    hint: 'remove it, or quote the string',
  }),
}

type ReaderError = Pick<YAMLError, 'code' | 'message' | 'pos'>

/** The errors of the reader as mistakes with offsets; misaligned lines are errors of indentation, not of keys. */
export function describeYamlErrors(
  errors: readonly ReaderError[],
  text: string,
): readonly (YamlMistake & { readonly offset: number })[] {
  const shifted = errors.find((error) => isShifted(error, errors, text))
  if (shifted === undefined) return errors.map((error) => ({ ...describeYamlError(error), offset: error.pos[0] }))
  const lineStart = text.lastIndexOf('\n', shifted.pos[1] - 1) + 1
  const offset = lineStart + (/^[ \t]*/.exec(text.slice(lineStart))?.[0].length ?? 0)
  const others = errors.filter(({ pos }) => pos[0] > shifted.pos[1])
  return [
    { ...badIndent(''), offset },
    ...others.map((error) => ({ ...describeYamlError(error), offset: error.pos[0] })),
  ]
}

/** Whether a line starts in another column than the key to which the reader assigned it. */
function isShifted({ code, message, pos }: ReaderError, errors: readonly ReaderError[], text: string): boolean {
  if (code === 'MISSING_CHAR') return /without - indicator/.test(message)
  if (code !== 'MULTILINE_IMPLICIT_KEY') return false
  const isNested = errors.some((error) => error.code === 'BLOCK_AS_IMPLICIT_KEY')
  return isNested || indentAt(text, pos[0]) !== indentAt(text, pos[1] - 1)
}

function indentAt(text: string, offset: number): number {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start))?.[0].length ?? 0
}

function describeYamlError({ code, message }: Pick<YAMLError, 'code' | 'message'>): YamlMistake {
  return (mistakes[code] ?? unexpected)(message)
}

function describeMissing(message: string): YamlMistake {
  const bracket = extract(message, /end with a ([\]}])/, '')
  if (bracket !== '') return { message: `the closing ${bracket} is missing`, hint: 'close the bracket' }
  if (/quote/.test(message))
    return { message: 'the closing quote is missing', hint: 'close it, or remove the first one' }
  if (/ , /.test(message)) return { message: 'a comma is missing', hint: 'write [a, b] or {a: 1, b: 2}' }
  if (/Comments/.test(message))
    return { message: 'a space is missing before #', hint: 'add a space, or quote the string' }
  return badKey(message)
}
