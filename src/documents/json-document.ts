import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import { lazyValue } from '../base/lazy-module.ts'
import { readPlainYaml } from './plain-yaml.ts'
import { scanJson } from './scan-json.ts'
import { parseYaml, type YamlDocument } from './yaml-document.ts'

const loadReader = (): typeof Jsonc => createRequire(import.meta.url)('jsonc-parser')

const maxDepth = 200

/**
 * Parses JSON or YAML with arbitrary keys. JSON is YAML, and so is its plain form, but the readers for these two are many times
 * faster; the YAML reader parses all other texts and reports their problems with locations.
 */
export function parseJsonOrYaml(text: string, file: string): YamlDocument {
  const asYaml = () => parseYaml(text, file, { anyKey: true })
  const plain = readPlainYaml(text)
  if (plain !== undefined) {
    // Locations are needed only for problems.
    const located = lazyValue(asYaml)
    return { value: plain.value, problems: [], locate: (path, at) => located().locate(path, at) }
  }
  if (!/^\s*[[{]/.test(text) || scanJson(text, maxDepth) !== undefined) return asYaml()
  try {
    const value: unknown = JSON.parse(text)
    const root = lazyValue(() => loadReader().parseTree(text))
    const starts = lazyValue(() => findLineStarts(text))
    return { value, problems: [], locate: (path, at = 'value') => toLocation(starts(), findOffset(root(), path, at)) }
  } catch {
    return asYaml()
  }
}

function findOffset(root: Jsonc.Node | undefined, path: readonly PropertyKey[], at: 'key' | 'value'): number {
  let node = root
  for (const [depth, part] of path.entries()) {
    const found = childOf(node, part)
    if (found === undefined) break
    if (depth === path.length - 1 && at === 'key' && found.parent?.type === 'property') return found.parent.offset
    node = found
  }
  return node?.offset ?? 0
}

function childOf(node: Jsonc.Node | undefined, part: PropertyKey): Jsonc.Node | undefined {
  if (node?.type === 'array') return node.children?.[Number(part)]
  return node?.children?.find((property) => property.children?.[0]?.value === String(part))?.children?.[1]
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** A binary search, because a long text may have thousands of locations to report. */
function toLocation(starts: readonly number[], offset: number): { line: number; column: number } {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
}
