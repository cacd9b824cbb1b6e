import { limitMeasures } from '../../contract/policy.ts'
import { bundleToolFields, type Fields, fieldOf, isFields } from './bundle-view.ts'

/** The formats of files that a registry can import. */
export type BundleFormat =
  | 'bundle'
  | 'cli'
  | 'list'
  | 'tool'
  | 'categories'
  | 'policy'
  | 'toolset'
  | 'limit'
  | 'openapi'

/** Detects the format of a file by its keys; undefined if it is unknown. */
export function detectFormat(value: unknown): BundleFormat | undefined {
  if (Array.isArray(value)) return value.length > 0 && value.every(isCategory) ? 'categories' : 'list'
  if (!isFields(value)) return undefined
  const has = (name: string) => fieldOf(value, name) !== undefined
  if (has('tooldex')) return 'bundle'
  if (has('openapi') || has('swagger')) return 'openapi'
  if (has('command')) return 'cli'
  if (isWholeTool(value)) return 'tool'
  if (isFields(value.result) && Array.isArray(value.result.tools)) return 'list'
  const isBundle = has('policies') || has('toolsets') || has('limits') || has('sources')
  if (Array.isArray(value.tools)) return has('categories') || isBundle ? 'bundle' : 'list'
  if (has('categories')) return isBundle ? 'bundle' : 'categories'
  if (isBundle) return 'bundle'
  if (has('filter') || has('codeMode') || has('pinned')) return 'toolset'
  if (limitMeasures.some(has)) return 'limit'
  if (has('default') || has('executor') || isFields(value.tools)) return 'policy'
  return isPartOfTool(value) ? 'tool' : undefined
}

/** Whether a text may be an OpenAPI document, whose reader is loaded only then. */
export const mayBeOpenApi = (text: string): boolean => /(?:^|[\s{,])["']?(?:openapi|swagger)["']?\s*:/.test(text)

/** Keys that identify an incomplete tool, so that its missing fields are reported. */
const isPartOfTool = (value: Fields) =>
  Object.hasOwn(value, 'name') &&
  [...bundleToolFields, 'scriptFile'].some((key) => key !== 'name' && fieldOf(value, key) !== undefined)

/** Whether an object is a tool, in any format. */
export const isWholeTool = (value: Fields): boolean =>
  isFields(value.function) || (Object.hasOwn(value, 'name') && hasSchema(value))

const hasSchema = (value: Fields) =>
  ['inputSchema', 'parameters', 'displayName'].some((name) => fieldOf(value, name) !== undefined)

const isCategory = (value: unknown) =>
  isFields(value) && Object.keys(value).every((key) => ['name', 'description', 'parent'].includes(key))
