import type { SearchableTool } from '../contract/search.ts'

/** A part of a tool that is searched, with what a word found there counts. */
export interface ToolField {
  readonly field: FieldName
  readonly text: string
}

export type FieldName = 'name' | 'namespace' | 'category' | 'tags' | 'description' | 'paramNames' | 'paramTexts'

/** What a word counts by where it stands; measured on public retrieval sets. */
export const fieldWeights: Readonly<Record<FieldName, number>> = {
  name: 3,
  namespace: 1,
  category: 1,
  tags: 1,
  description: 1,
  paramNames: 0.5,
  paramTexts: 0.5,
}

const deepest = 3

/** The searched parts of a tool, one entry for each text. */
export function toolFields(tool: SearchableTool): readonly ToolField[] {
  const fields: ToolField[] = [{ field: 'name', text: tool.name }]
  const add = (field: FieldName, text: string | null | undefined) => {
    if (text) fields.push({ field, text })
  }
  add('namespace', tool.namespace)
  add('category', tool.category)
  add('tags', tool.tags?.join(' '))
  add('description', tool.description)
  for (const [name, text] of parametersOf(tool.inputSchema)) {
    add('paramNames', name)
    add('paramTexts', text)
  }
  return fields
}

/** The names and descriptions of all parameters, those inside objects and lists too. */
function parametersOf(schema: unknown, depth = 0): readonly (readonly [string, string])[] {
  if (typeof schema !== 'object' || schema === null || depth > deepest) return []
  const { properties } = schema as { properties?: unknown }
  if (typeof properties !== 'object' || properties === null) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    const { description, items } = (property ?? {}) as { description?: unknown; items?: unknown }
    const own = [name, typeof description === 'string' ? description : ''] as const
    return [own, ...parametersOf(property, depth + 1), ...parametersOf(items, depth + 1)]
  })
}
