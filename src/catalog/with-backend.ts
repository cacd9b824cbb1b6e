import { isDeepStrictEqual } from 'node:util'
import { TooldexError } from '../base/errors.ts'
import type { Backend, CatalogTool } from '../contract/catalog.ts'
import type { SearchDoc } from '../contract/search.ts'
import { isSameBackend } from './backends.ts'
import { hashOf } from './page-cursor.ts'
import { toolIdOf } from './parse-tool.ts'
import { toSearchDoc } from './search-doc.ts'

/** A tool of the catalog with all its backends; replaced as a whole, never mutated. */
export interface CatalogEntry {
  readonly tool: CatalogTool
  readonly backends: readonly Backend[]
  readonly doc: SearchDoc
  /** Equal for equal tools, in every process. */
  readonly mark: string
}

const mcpFields = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'icons',
  '_meta',
] as const

/** An entry; its document and hash are computed on first read, because a starting server needs neither. */
export function createEntry(tool: CatalogTool, backends: readonly Backend[]): CatalogEntry {
  let doc: SearchDoc | undefined
  let mark: string | undefined
  return {
    tool,
    backends,
    get doc() {
      doc ??= toSearchDoc(tool)
      return doc
    },
    get mark() {
      mark ??= hashOf(tool)
      return mark
    },
  }
}

/** The entry after a registration; one with a different definition of the tool is rejected. */
export function withBackend(before: CatalogEntry | undefined, tool: CatalogTool, backend: Backend): CatalogEntry {
  if (before === undefined) return createEntry(tool, [backend])
  const different = mcpFields.filter((field) => !isDeepStrictEqual(before.tool[field], tool[field]))
  if (different.length > 0) throw differs(tool, different)
  const known = before.backends.some((other) => isSameBackend(other, backend))
  const replaced = before.backends.map((other) => (isSameBackend(other, backend) ? backend : other))
  return createEntry(tool, known ? replaced : [...before.backends, backend])
}

function differs(tool: CatalogTool, fields: readonly string[]): TooldexError {
  return new TooldexError('INPUT_INVALID', `tool "${toolIdOf(tool)}" differs from its registration`, {
    problems: fields.map((field) => ({ severity: 'error', message: `${field} is different`, pointer: `/${field}` })),
    hint: 'Unregister it first, or give it another version or namespace.',
  })
}
