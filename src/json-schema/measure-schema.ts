import { type Problem, toPointer } from '../base/problem.ts'
import { copyJson, NotJson } from './copy-json.ts'
import { schemaLimits } from './limits.ts'

/** A schema's own copy, and what makes it too much to look at closely, or no JSON at all. */
export interface MeasuredSchema {
  /** Does not change when the schema that was given does. */
  readonly copy: unknown
  readonly problems: readonly Problem[]
}

/** Measures a schema before anything walks into it. */
export function measureSchema(schema: unknown, pointer: string): MeasuredSchema {
  const deep = findDeep(schema)
  if (deep !== undefined) return refuse(pointer, deep, 'make it simpler, or split the tool into several')
  try {
    const { value: copy } = copyJson(schema)
    const bytes = Buffer.byteLength(JSON.stringify(copy))
    if (bytes <= schemaLimits.bytes) return { copy, problems: [] }
    const message = `the schema has ${bytes} bytes as JSON, ${schemaLimits.bytes} are allowed`
    return refuse(pointer, message, 'shorten its texts and lists')
  } catch (error) {
    if (!(error instanceof NotJson)) throw error
    return refuse(pointer + toPointer(error.path), `the schema ${error.message}`, 'write plain JSON')
  }
}

/** Walks level by level, so that neither depth nor cycles nor shared parts can hurt. */
function findDeep(schema: unknown): string | undefined {
  let level: object[] = typeof schema === 'object' && schema !== null ? [schema] : []
  let parts = 0
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > schemaLimits.depth) return `the schema nests deeper than ${schemaLimits.depth} levels`
    const next: object[] = []
    for (const part of level) {
      for (const held of Object.values(part)) {
        parts++
        if (typeof held === 'object' && held !== null) next.push(held)
      }
      // Every part takes a byte of JSON at least, so no schema that fits has more.
      if (parts > schemaLimits.bytes) return `the schema has more than ${schemaLimits.bytes} parts`
    }
    level = next
  }
  return undefined
}

const refuse = (pointer: string, message: string, hint: string): MeasuredSchema => ({
  copy: undefined,
  problems: [{ severity: 'error', pointer, message, hint }],
})
