import { hash } from 'node:crypto'
import { Category, type RegisteredTool } from './registry.ts'

/** What a change is made on: the number of a version, or what an If-Match says: one tag, several, or `*` for whatever is there. */
export type Expected = number | string

/** The tag of a tool as it is now: a step changes it as a version does, and no tool of the same name ever has it again. */
export const toolTag = ({ version, updatedAt }: Pick<RegisteredTool, 'version' | 'updatedAt'>): string =>
  `${version}.${Date.parse(updatedAt)}`

/** Whether a tool is what a change is made on; a version alone is enough to name it. */
export const isExpectedTool = (tool: RegisteredTool, expected: Expected | undefined): boolean =>
  isNamed(expected, [String(tool.version), toolTag(tool)])

/** The tag of an answer that has no version: what it says. */
export const textTag = (text: string): string => hash('sha1', text, 'base64url')

/** Whether a category says what it said when it was read. */
export const isExpectedCategory = (category: Category, expected: Expected | undefined): boolean =>
  isNamed(expected, [textTag(JSON.stringify(Category.parse(category)))])

function isNamed(expected: Expected | undefined, tags: readonly string[]): boolean {
  if (expected === undefined) return true
  const named = String(expected).split(',').map(toTag)
  return named.includes('*') || named.some((tag) => tags.includes(tag))
}

/** A tag without its quotes; one that was weakened on its way still names the same. */
const toTag = (text: string): string =>
  text
    .trim()
    .replace(/^W\//, '')
    .replace(/^"(.*)"$/, '$1')
