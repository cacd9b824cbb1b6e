import { TooldexError } from '../base/errors.ts'
import type { SearchableTool } from '../contract/search.ts'
import { splitIdentifiers } from './tokenize.ts'

/** A searched field of a tool, with the weight of its words. */
interface ToolField {
  readonly field: FieldName
  readonly text: string
}

/** The searched fields, in reading order. */
export const fieldNames = ['name', 'namespace', 'category', 'tags', 'description', 'paramNames', 'paramTexts'] as const
export type FieldName = (typeof fieldNames)[number]

/** The weight of a word by its field; measured on public retrieval sets. */
export const fieldWeights: Readonly<Record<FieldName, number>> = {
  name: 3,
  namespace: 3,
  category: 1,
  tags: 1,
  description: 1,
  paramNames: 0.5,
  paramTexts: 0.5,
}

const deepest = 3

type Visit = (field: number, text: string) => void
const [name, namespace, category, tags, description, paramNames, paramTexts] = [0, 1, 2, 3, 4, 5, 6] as const

/** The searched fields of a tool, one entry for each text. */
export function toolFields(tool: SearchableTool): readonly ToolField[] {
  const fields: ToolField[] = []
  visitFields(tool, (field, text) => fields.push({ field: fieldNames[field] as FieldName, text }))
  return fields
}

/** The same without an intermediate array; fields by their index in `fieldNames`. */
export function visitFields(tool: SearchableTool, visit: Visit): void {
  visit(name, tool.name)
  if (tool.namespace) visit(namespace, tool.namespace)
  if (tool.category) visit(category, tool.category)
  if (tool.tags !== undefined && tool.tags.length > 0) visit(tags, tool.tags.join(' '))
  if (tool.description) visit(description, tool.description)
  visitParameters(tool.inputSchema, visit, 0)
}

/** The text in which a literal query is matched: name, description, namespace, category and tags, in lower case. */
export const literalText = ({
  name,
  description,
  namespace,
  category,
  tags = [],
}: Omit<SearchableTool, 'id'>): string =>
  [name, description, namespace ?? '', ...(category ? [category] : []), ...tags].join(' ').toLowerCase()

/** The names and descriptions of all parameters, including those nested in objects and arrays. */
function visitParameters(schema: unknown, visit: Visit, depth: number): void {
  if (typeof schema !== 'object' || schema === null || depth > deepest) return
  const { properties } = schema as { properties?: unknown }
  if (typeof properties !== 'object' || properties === null) return
  // Property access by a constant name needs no lookup.
  for (const key in properties) {
    const property = (properties as Record<string, { description?: unknown; items?: unknown } | null>)[key]
    if (key !== '') visit(paramNames, key)
    const text = property?.description
    if (typeof text === 'string' && text !== '') visit(paramTexts, text)
    visitParameters(property, visit, depth + 1)
    visitParameters(property?.items, visit, depth + 1)
  }
}

/** Rejects an invalid tool before any of it is stored; callers from JavaScript have no compiler. */
export function checkSearchable(tool: SearchableTool): void {
  const { tags, exampleRequests } = tool
  checkText(tool, 'id', tool.id)
  checkText(tool, 'name', tool.name)
  checkText(tool, 'description', tool.description)
  checkText(tool, 'namespace', tool.namespace ?? '')
  checkText(tool, 'category', tool.category ?? '')
  if (!isTexts(tags ?? [])) throw refuse(tool, 'tags', 'an array of strings')
  if (exampleRequests !== undefined && !isTexts(exampleRequests))
    throw refuse(tool, 'exampleRequests', 'an array of strings')
}

// Property access by a constant name needs no lookup.
function checkText(tool: SearchableTool, field: string, value: unknown): void {
  if (typeof value !== 'string') throw refuse(tool, field, 'a string')
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string')

const refuse = ({ id }: SearchableTool, field: string, what: string): TooldexError =>
  new TooldexError('TOOL_INVALID', `The ${field} of the tool ${JSON.stringify(id) ?? 'without an id'} is not ${what}.`)

/** Whether a query is the name or the id of a tool, ignoring case, spaces, dashes and underscores. */
export function isNamed(tool: SearchableTool | undefined, query: string): boolean {
  const name = normalizeName(query)
  return name !== '' && tool !== undefined && spellings(tool).some((spelling) => normalizeName(spelling) === name)
}

/** A name without case, spaces, dashes and underscores. */
const normalizeName = (text: string): string => text.toLowerCase().replace(/[\s_.:/@-]+/g, '')

/** The queries that name exactly this tool. */
const spellings = ({ name, namespace, id }: SearchableTool): readonly string[] => [
  name,
  id,
  `${namespace ?? ''}${name}`,
  splitIdentifiers(name).join(''),
]
