import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import type { Problem } from '../base/problem.ts'
import { describeYamlErrors, duplicateKey, mergeKey } from './yaml-errors.ts'

/** Loaded on first use: it takes 25 ms to load, which a start from cached configs should not pay. */
const loadReader = (): typeof Yaml => createRequire(import.meta.url)('yaml')

/** A parsed YAML text with the locations of its values. */
export interface YamlDocument {
  readonly value: unknown
  /** Problems of the YAML syntax; `value` is meaningless if there are any. */
  readonly problems: readonly Problem[]
  /** Problems that other readers and the `tolerant` option accept. */
  readonly tolerated?: readonly Problem[]
  /** The source text of the plain scalar at a path; undefined if it is quoted. */
  readonly sourceAt?: (path: readonly PropertyKey[]) => string | undefined
  /** The location of the value at a path or, if it is missing, of its nearest parent. */
  locate(path: readonly PropertyKey[], at?: 'key' | 'value'): { line: number; column: number }
}

const maxDepth = 200
const maxAliases = 1000
/** The keys through which plain data could reach the prototype of an object. */
export const refusedKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** The accepted YAML features. */
export interface YamlOptions {
  /** Accepts any key, for data that is never merged into other objects. */
  readonly anyKey?: boolean
  /** Accepts `<<` merge keys, and duplicate keys, of which the last one counts; both are reported as tolerated. */
  readonly tolerant?: boolean
}

/** Parses YAML 1.2 strictly: one document, unique keys, known tags, bounded depth and aliases. */
export function parseYaml(text: string, file: string, { anyKey, tolerant }: YamlOptions = {}): YamlDocument {
  const reader = loadReader()
  const { LineCounter, parseDocument } = reader
  const lines = new LineCounter()
  const locationOf = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const fail = (offset: number, message: string, hint?: string): Problem => {
    return { severity: 'error', file, ...locationOf(offset), message, ...(hint === undefined ? {} : { hint }) }
  }
  const nowhere = () => ({ line: 1, column: 1 })

  const deep = seemsTooDeep(text) ? findTooDeep(text) : undefined
  if (deep !== undefined) {
    text.slice(0, deep).replace(/\n/g, (_, offset: number) => String(lines.addNewLine(offset + 1)))
    if (lines.lineStarts[0] !== 0) lines.lineStarts.unshift(0)
    return { value: undefined, problems: [fail(deep, `is nested more than ${maxDepth} levels deep`)], locate: nowhere }
  }
  const options = {
    prettyErrors: false,
    version: '1.2',
    logLevel: 'error',
    resolveKnownTags: false,
    uniqueKeys: false,
    merge: tolerant === true,
  } as const
  // The directive would make the reader parse words such as n as booleans.
  const body = tolerant ? text.replace(/^(\ufeff?)%(?=YAML[ \t]+1\.[12]\b)/, '$1#') : text
  const document = parseDocument(body, { ...options, lineCounter: lines })
  const tolerated: Problem[] = []
  const mistakes = describeYamlErrors([...document.errors, ...document.warnings], body)
  const problems = mistakes.map(({ offset, message, hint }) => fail(offset, message, hint))
  inspectNodes(document, { reader, anyKey: anyKey === true }, (kind, offset, { message, hint }) =>
    (tolerant && kind === 'tolerable' ? tolerated : problems).push(fail(offset, message, hint)),
  )
  if (problems.length > 0) return { value: undefined, problems: withoutRepeats(problems), locate: nowhere }
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxAliases })
    const sourceAt = (path: readonly PropertyKey[]) => findSource(document.contents, path)
    const locate: YamlDocument['locate'] = (path, where = 'value') =>
      locationOf(findOffset(document.contents, path, where))
    return { value, problems, tolerated: withoutRepeats(tolerated), sourceAt, locate }
  } catch (error) {
    const tooMany = error instanceof ReferenceError
    const message = tooMany
      ? `expands more than ${maxAliases} aliases`
      : 'the value of << must be a mapping, or a sequence of mappings'
    return { value: undefined, problems: [fail(0, message)], locate: nowhere }
  }
}

type Report = (kind: 'wrong' | 'tolerable', offset: number, mistake: { message: string; hint?: string }) => void

/** Reports forbidden and duplicate keys, merge keys and invalid aliases. */
function inspectNodes(
  document: Yaml.Document.Parsed,
  { reader, anyKey }: { reader: typeof Yaml; anyKey: boolean },
  report: Report,
): void {
  const anchors = new Set<string>()
  reader.visit(document, {
    Value(_, node) {
      if (node.anchor !== undefined) anchors.add(node.anchor)
      for (const offset of findDuplicates(node, reader)) report('tolerable', offset, duplicateKey)
    },
    Alias(_, { source, range }, path) {
      const inside = path.some((node) => 'anchor' in node && node.anchor === source)
      const reason = inside
        ? 'refers to a node that contains it'
        : anchors.has(source)
          ? ''
          : 'refers to an anchor that is not defined before it'
      if (reason !== '') report('wrong', range?.[0] ?? 0, { message: `the alias *${source} ${reason}` })
    },
    Pair(_, { key }) {
      if (!reader.isScalar(key)) return
      const offset = key.range?.[0] ?? 0
      const name = String(key.value)
      if (key.type === 'PLAIN' && key.source === '<<') report('tolerable', offset, mergeKey)
      if (!anyKey && refusedKeys.has(name))
        report('wrong', offset, { message: `the key '${name}' is not allowed`, hint: 'choose another name' })
    },
  })
}

function findSource(root: unknown, path: readonly PropertyKey[]): string | undefined {
  const node = path.reduce<unknown>((parent, part) => child(parent, part)?.value, root)
  const { type, source } = (node ?? {}) as { type?: string; source?: string }
  return type === 'PLAIN' ? source : undefined
}

/** The offsets of duplicate keys of a mapping; the check of the library compares every key with every other. */
function findDuplicates(node: unknown, { isMap, isScalar }: typeof Yaml): readonly number[] {
  if (!isMap(node)) return []
  const seen = new Set<string>()
  return node.items.flatMap(({ key }) => {
    if (!isScalar(key)) return []
    const name = String(key.value)
    const again = seen.has(name)
    seen.add(name)
    return again ? [key.range?.[0] ?? 0] : []
  })
}

/** Removes repeated messages about a line: one mistake can cause several errors of the reader. */
function withoutRepeats(problems: readonly Problem[]): readonly Problem[] {
  const keys = problems.map(({ line, message }) => `${line} ${message}`)
  return problems.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
}

function findOffset(root: unknown, path: readonly PropertyKey[], where: 'key' | 'value'): number {
  const { isNode } = loadReader()
  let node: unknown = root
  let offset = isNode(root) ? (root.range?.[0] ?? 0) : 0
  for (const [depth, part] of path.entries()) {
    const found = child(node, part)
    if (found === undefined) return offset
    const last = depth === path.length - 1
    const target = (last && where === 'key') || !isNode(found.value) ? (found.key ?? found.value) : found.value
    offset = isNode(target) ? (target.range?.[0] ?? offset) : offset
    node = found.value
  }
  return offset
}

function child(node: unknown, part: PropertyKey): { key?: unknown; value: unknown } | undefined {
  const { isMap, isScalar } = loadReader()
  if (isMap(node)) {
    const pair = node.items.findLast((item) => isScalar(item.key) && String(item.key.value) === String(part))
    return pair as Yaml.Pair<Yaml.Node, Yaml.Node> | undefined
  }
  const items = (node as { items?: unknown[] } | undefined)?.items
  const value = items?.[Number(part)]
  return value === undefined ? undefined : { value }
}

// Indicators with a tag or an anchor after each, which the reader counts as one level before it fails on them.
const taggedMarks = new RegExp(`(?:[-?:][ \\t]+[!&]\\S*[ \\t]+){${maxDepth}}`)

/** A cheap test whether a text may nest too deeply: it counts indicators only, some of which may be in quotes. */
function seemsTooDeep(text: string): boolean {
  let depth = 0
  let pairs = 0
  for (let index = 0; index < text.length; index++) {
    const char = text.charAt(index)
    if ('[{'.includes(char)) depth++
    else if (']}'.includes(char) && depth > 0) depth--
    else if (char === ':' && ' \t'.includes(text.charAt(index + 1))) pairs++
    if (char === '\n' || (depth > 0 && ',[{]}'.includes(char))) pairs = 0
    if (depth > maxDepth || pairs > 2 * maxDepth) return true
  }
  const mark = '[-?:][ \\t]+(?:[!&]\\S*[ \\t]+)?'
  return new RegExp(`(?:${mark}){${maxDepth}}|^[ \\t]{${2 * maxDepth}}[ \\t]*\\S`, 'm').test(text)
}

/**
 * The offset at which the text nests too deeply for a recursive reader, found by the part of the reader that is not recursive.
 * A stack overflow in the reader can end the process.
 */
function findTooDeep(text: string): number | undefined {
  const { Lexer, Parser } = loadReader()
  const tagged = taggedMarks.exec(text)
  if (tagged !== null) return tagged.index
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    Array.from(parser.next(lexeme))
    if (parser.stack.length > maxDepth) return parser.offset
  }
  return undefined
}
