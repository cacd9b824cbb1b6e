import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import type { Problem } from './problem.ts'
import { describeYamlError, duplicateKey } from './yaml-errors.ts'

/** The reader takes a fortieth of a second to load, which a start from remembered configs should not pay. */
const loadReader = (): typeof Yaml => createRequire(import.meta.url)('yaml')

/** A parsed YAML text that still knows where everything stood. */
export interface YamlDocument {
  readonly value: unknown
  /** What is wrong with the text as YAML; `value` is meaningless when there is anything here. */
  readonly problems: readonly Problem[]
  /** The position of the value at a path or, where it is missing, of what should hold it. */
  locate(path: readonly PropertyKey[], at?: 'key' | 'value'): { line: number; column: number }
}

const maxDepth = 200
const maxAliases = 50
/** The names through which plain data could reach the prototype of an object. */
export const refusedKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** What a YAML text may hold. */
export interface YamlOptions {
  /** Keys may be called anything, for data that is never merged into other objects. */
  readonly anyKey?: boolean
}

/** Parses YAML 1.2 strictly: one document, unique keys, known tags, bounded depth and aliases. */
export function parseYaml(text: string, file: string, { anyKey = false }: YamlOptions = {}): YamlDocument {
  const reader = loadReader()
  const { isScalar, LineCounter, parseDocument, visit } = reader
  const lines = new LineCounter()
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const fail = (offset: number, message: string, hint?: string): Problem => {
    return { severity: 'error', file, ...at(offset), message, ...(hint === undefined ? {} : { hint }) }
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
  } as const
  const document = parseDocument(text, { ...options, lineCounter: lines })
  const problems = [...document.errors, ...document.warnings].map((error) => {
    const { message, hint } = describeYamlError(error)
    return fail(error.pos[0], message, hint)
  })
  const anchors = new Set<string>()
  visit(document, {
    Value(_, node) {
      if (node.anchor !== undefined) anchors.add(node.anchor)
      for (const offset of findTwice(node, reader)) problems.push(fail(offset, duplicateKey.message, duplicateKey.hint))
    },
    Alias(_, { source, range }, path) {
      const inside = path.some((node) => 'anchor' in node && node.anchor === source)
      const wrong = inside ? 'stands inside what it stands for' : anchors.has(source) ? '' : 'stands for nothing'
      if (wrong !== '') problems.push(fail(range?.[0] ?? 0, `the alias *${source} ${wrong}`))
    },
    Pair(_, pair) {
      const key = isScalar(pair.key) ? pair.key : undefined
      if (!anyKey && key !== undefined && refusedKeys.has(String(key.value))) {
        problems.push(fail(key.range?.[0] ?? 0, `the key '${String(key.value)}' is not allowed`, 'choose another name'))
      }
    },
  })
  if (problems.length > 0) return { value: undefined, problems: onceALine(problems), locate: nowhere }
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxAliases })
    return { value, problems, locate: (path, where = 'value') => at(findOffset(document.contents, path, where)) }
  } catch {
    return { value: undefined, problems: [fail(0, `expands more than ${maxAliases} aliases`)], locate: nowhere }
  }
}

/** Where a mapping has a key again; the reader's own check compares every key with every other. */
function findTwice(node: unknown, { isMap, isScalar }: typeof Yaml): readonly number[] {
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

/** One slip makes the reader stumble several times over the same line. */
function onceALine(problems: readonly Problem[]): readonly Problem[] {
  const sayings = problems.map(({ line, message }) => `${line} ${message}`)
  return problems.filter((_, index) => sayings.indexOf(sayings[index] ?? '') === index)
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
    const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(part))
    return pair as Yaml.Pair<Yaml.Node, Yaml.Node> | undefined
  }
  const items = (node as { items?: unknown[] } | undefined)?.items
  const value = items?.[Number(part)]
  return value === undefined ? undefined : { value }
}

// Marks with a tag or an anchor after each, which the reader takes as one level before it fails on them.
const taggedMarks = new RegExp(`(?:[-?:][ \\t]+[!&]\\S*[ \\t]+){${maxDepth}}`)

/** Whether a text may nest too deeply: judged by its signs alone, some of which may stand in quotes. */
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
 * The offset where the text nests too deeply for a recursive reader, found by the part of the reader that is not recursive.
 * A reader that runs out of stack can take the process with it.
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
