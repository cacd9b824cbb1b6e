import { bundleToolFields } from './bundle-keys.ts'
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
  if (isWholeTool(value)) return 'tool'
  if (isFields(value.result) && Array.isArray(value.result.tools)) return 'list'
  if (Array.isArray(value.tools)) return has('categories') || has('policies') ? 'bundle' : 'list'
  if (has('categories')) return has('policies') ? 'bundle' : 'categories'
  if (has('policies')) return 'bundle'
  if (has('default') || has('executor') || isFields(value.tools)) return 'policy'
  return isPartOfTool(value) ? 'tool' : undefined
}

/** What can only be meant as a tool, so that whoever wrote it is told what it lacks. */
const isPartOfTool = (value: Fields) =>
  Object.hasOwn(value, 'name') &&
  [...bundleToolFields, 'scriptFile'].some((key) => key !== 'name' && fieldOf(value, key) !== undefined)

/** Whether a mapping is a tool in our form or another. */
export const isWholeTool = (value: Fields): boolean =>
  isFields(value.function) || (Object.hasOwn(value, 'name') && hasSchema(value))

const hasSchema = (value: Fields) =>
  ['inputSchema', 'parameters', 'displayName'].some((name) => fieldOf(value, name) !== undefined)

const isCategory = (value: unknown) =>
  isFields(value) && Object.keys(value).every((key) => ['name', 'description', 'parent'].includes(key))
