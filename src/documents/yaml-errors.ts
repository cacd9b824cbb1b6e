import type { YAMLError } from 'yaml'

/** What is wrong with a text as YAML, and how to fix it. */
export interface YamlMistake {
  readonly message: string
  readonly hint: string
}

type Tell = (said: string) => YamlMistake

const always =
  (message: string, hint: string): Tell =>
  () => ({ message, hint })
const found = (said: string, pattern: RegExp, otherwise: string) => pattern.exec(said)?.[1] ?? otherwise

const badKey = always(
  'this is not one key with its value; there are no nested mappings on one line',
  'write one key: value on each line, and put a value that has ": " in it in quotes',
)
const badName = always('an anchor or alias is not written properly', 'put a text that begins with & or * in quotes')
const unexpected = always('this does not belong here', 'check the brackets, quotes and indentation before it')
const badIndent = always(
  'the indentation does not fit the lines before',
  'begin all keys of a mapping, or all dashes of a list, in one column',
)

/** A key that a mapping has twice. */
export const duplicateKey: YamlMistake = {
  message: 'the key stands here a second time; keys must be unique',
  hint: 'remove one of the two',
}

/** A key that takes in another mapping, which YAML 1.2 has no longer. */
export const mergeKey: YamlMistake = {
  message: '<< merges another mapping, which is not part of YAML 1.2',
  hint: 'write the keys out',
}

// The reader's own words are for those who program with it.
const mistakes: Readonly<Partial<Record<YAMLError['code'], Tell>>> = {
  ALIAS_PROPS: badName,
  BAD_ALIAS: badName,
  BAD_DIRECTIVE: always('a line that begins with % is not understood', 'remove it, or put the text in quotes'),
  BAD_DQ_ESCAPE: (said) => ({
    message: `${found(said, /(\\.*)$/, 'the backslash')} means nothing in double quotes`,
    hint: 'use single quotes, or write \\\\ for a backslash',
  }),
  BAD_INDENT: (said) => (/end with a/.test(said) ? describeMissing(said) : badIndent(said)),
  BAD_PROP_ORDER: badName,
  BAD_SCALAR_START: (said) => ({
    message: `a text may not begin with ${found(said, /(\S+)$/, 'this')}`,
    hint: 'put it in quotes',
  }),
  BLOCK_AS_IMPLICIT_KEY: badKey,
  BLOCK_IN_FLOW: always('what stands in brackets cannot be read', 'write [a, b] or {a: 1, b: 2}'),
  KEY_OVER_1024_CHARS: badKey,
  MISSING_CHAR: describeMissing,
  MULTILINE_IMPLICIT_KEY: badKey,
  MULTIPLE_ANCHORS: badName,
  MULTIPLE_DOCS: always('the file holds multiple documents', 'keep one, and remove the line ---'),
  TAB_AS_INDENT: always('a tab is used as indentation', 'indent with spaces'),
  TAG_RESOLVE_FAILED: (said) => ({
    message: `the tag ${found(said, /: (.*)$/, '!').replace('tag:yaml.org,2002:', '!!')} is not known here`,
    hint: 'remove it, or put the text in quotes',
  }),
}

type ReaderError = Pick<YAMLError, 'code' | 'message' | 'pos'>

/** The mistakes the reader found, each where it is; lines that do not fit in are errors of indentation, not of keys. */
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

/** Whether a line begins in another column than the key that it was taken to belong to. */
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

/** A mistake the reader found, in plain words. */
function describeYamlError({ code, message }: Pick<YAMLError, 'code' | 'message'>): YamlMistake {
  return (mistakes[code] ?? unexpected)(message)
}

function describeMissing(said: string): YamlMistake {
  const bracket = found(said, /end with a ([\]}])/, '')
  if (bracket !== '') return { message: `the closing ${bracket} is missing`, hint: 'close the bracket' }
  if (/quote/.test(said)) return { message: 'the closing quote is missing', hint: 'close it, or remove the first one' }
  if (/ , /.test(said)) return { message: 'a comma is missing', hint: 'write [a, b] or {a: 1, b: 2}' }
  if (/Comments/.test(said)) return { message: 'a space is missing before #', hint: 'or put the text in quotes' }
  return badKey(said)
}
