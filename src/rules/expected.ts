import { hash } from 'node:crypto'
import { Category, type RegisteredTool } from '../contract/registry.ts'
import type { Expected } from '../contract/stores.ts'

/** The entity tag of a tool: every version and every status change has a new one, and no later tool of the same name repeats it. */
export const toolTag = ({ version, updatedAt }: Pick<RegisteredTool, 'version' | 'updatedAt'>): string =>
  `${version}.${Date.parse(updatedAt)}`

/** Whether a tool matches the expected state; a version number is enough. */
export const isExpectedTool = (tool: RegisteredTool, expected: Expected | undefined): boolean =>
  matchesAny(expected, [String(tool.version), toolTag(tool)])

/** The entity tag of a response without a version: a hash of its text. */
export const textTag = (text: string): string => hash('sha1', text, 'base64url')

/** Whether a category is unchanged since it was read. */
export const isExpectedCategory = (category: Category, expected: Expected | undefined): boolean =>
  isExpectedText(JSON.stringify(Category.parse(category)), expected)

/** Whether a resource without a version is unchanged since it was read; undefined where it does not exist. */
export const isExpectedText = (text: string | undefined, expected: Expected | undefined): boolean =>
  text === undefined ? expected === undefined : matchesAny(expected, [textTag(text)])

function matchesAny(expected: Expected | undefined, tags: readonly string[]): boolean {
  if (expected === undefined) return true
  const expectedTags = String(expected).split(',').map(toTag)
  return expectedTags.includes('*') || expectedTags.some((tag) => tags.includes(tag))
}

/** A tag without its quotes; a proxy may have made it weak, which does not change its meaning here. */
const toTag = (text: string): string =>
  text
    .trim()
    .replace(/^W\//, '')
    .replace(/^"(.*)"$/, '$1')
