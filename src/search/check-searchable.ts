import { TooldexError } from '../base/errors.ts'
import type { SearchableTool } from '../contract/search.ts'

const texts = ['id', 'name', 'description'] as const
const optionalTexts = ['namespace', 'category'] as const

/** Rejects an invalid tool before any of it is stored; callers from JavaScript have no compiler. */
export function checkSearchable(tool: SearchableTool): void {
  for (const field of texts) if (typeof tool[field] !== 'string') throw refuse(tool, field, 'a string')
  for (const field of optionalTexts) if (typeof (tool[field] ?? '') !== 'string') throw refuse(tool, field, 'a string')
  const { tags, exampleRequests } = tool
  if (!isTexts(tags ?? [])) throw refuse(tool, 'tags', 'an array of strings')
  if (exampleRequests !== undefined && !isTexts(exampleRequests))
    throw refuse(tool, 'exampleRequests', 'an array of strings')
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string')

const refuse = ({ id }: SearchableTool, field: string, what: string): TooldexError =>
  new TooldexError('TOOL_INVALID', `The ${field} of the tool ${JSON.stringify(id) ?? 'without an id'} is not ${what}.`)
