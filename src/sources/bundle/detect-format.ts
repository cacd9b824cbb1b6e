import { type Fields, fieldOf, isFields } from './bundle-view.ts'

/** What a file can hold that a registry can take. */
export type BundleFormat = 'bundle' | 'cli' | 'list' | 'tool' | 'categories' | 'policy'

/** Tells by its keys what a file holds; undefined when it is nothing we know. */
export function detectFormat(value: unknown): BundleFormat | undefined {
  if (Array.isArray(value)) return value.length > 0 && value.every(isCategory) ? 'categories' : 'list'
  if (!isFields(value)) return undefined
  const has = (name: string) => fieldOf(value, name) !== undefined
  if (has('tooldex')) return 'bundle'
  if (has('command')) return 'cli'
  if (isTool(value)) return 'tool'
  if (Array.isArray(value.tools)) return has('categories') || has('policies') ? 'bundle' : 'list'
  if (has('categories')) return has('policies') ? 'bundle' : 'categories'
  if (has('policies')) return 'bundle'
  return has('default') || has('executor') || isFields(value.tools) ? 'policy' : undefined
}

const isTool = (value: Fields) => isFields(value.function) || (Object.hasOwn(value, 'name') && hasSchema(value))

const hasSchema = (value: Fields) =>
  ['inputSchema', 'parameters', 'displayName'].some((name) => fieldOf(value, name) !== undefined)

const isCategory = (value: unknown) =>
  isFields(value) && Object.keys(value).every((key) => ['name', 'description', 'parent'].includes(key))
