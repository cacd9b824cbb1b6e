import { deepFreeze, omitUndefined } from '../base/json-values.ts'
import type { CatalogTool } from '../contract/catalog.ts'
import {
  maxShortDescription,
  type SearchableTool,
  type SearchDoc,
  type SemanticDocument,
  type Summary,
} from '../contract/search.ts'
import { cutText } from '../rules/cut-text.ts'
import { toolIdOf } from './parse-tool.ts'

/** A tool as search returns it. */
export function toSummary(tool: CatalogTool): Summary {
  const shortDescription = cutText(tool.summary ?? tool.description, maxShortDescription)
  return omitUndefined({
    id: toolIdOf(tool),
    name: tool.name,
    namespace: tool.namespace,
    shortDescription,
    summary: shortDescription,
    category: tool.category,
    inputModes: [...(tool.inputModes ?? [])],
    outputModes: [...(tool.outputModes ?? [])],
    securitySummary: tool.securitySummary,
    tags: [...tool.tags],
  })
}

/** A tool as input of search; equal tools give equal documents. */
export function toSearchDoc(tool: CatalogTool): SearchDoc {
  const { name, namespace, description, category, inputModes = [], outputModes = [], tags } = tool
  const summary = tool.summary === description ? undefined : tool.summary
  const parts = [name, namespace, description, summary, category, ...inputModes, ...outputModes, ...tags]
  return deepFreeze({ id: toolIdOf(tool), docText: joinWords(parts).toLowerCase(), summary: toSummary(tool) })
}

/** A tool as a ranker indexes it. */
export function toSearchableTool(id: string, tool: CatalogTool): SearchableTool {
  const { name, namespace, description, category, tags, inputSchema, exampleRequests } = tool
  return { id, name, namespace, description, category, tags, inputSchema, exampleRequests }
}

/** A tool as input of semantic search. */
export function toSemanticDocument(tool: CatalogTool): SemanticDocument {
  const { name, namespace, description, category } = tool
  const parts = omitUndefined({ id: toolIdOf(tool), namespace, name, description, category })
  return normalizeDocument({ ...parts, tags: [...tool.tags], text: '' })
}

/** The document with tags in lower case, sorted and unique, and its text built from its other fields. */
export function normalizeDocument(document: SemanticDocument): SemanticDocument {
  const lowered = document.tags.map((tag) => tag.trim().toLowerCase()).filter((tag) => tag !== '')
  const tags = [...new Set(lowered)].sort()
  const { name, description, namespace, category } = document
  return { ...document, tags, text: joinWords([name, description, ...tags, namespace, category]) }
}

const joinWords = (parts: readonly (string | undefined)[]) => parts.filter(Boolean).join(' ')
