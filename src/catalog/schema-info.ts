import type { SchemaInfo } from '../contract/tool-doc.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { readParameters } from '../json-schema/read-parameters.ts'

/** The parameters of an input schema, as far as they can be derived; undefined if there are none. */
export function readSchemaInfo(schema: JsonSchema): SchemaInfo | undefined {
  const { required, defaults, types } = readParameters(schema)
  if (required.size + defaults.size + types.size === 0) return undefined
  return {
    required: [...required],
    defaults: Object.fromEntries([...defaults].map(([name, { value }]) => [name, value])),
    types: Object.fromEntries([...types].map(([name, found]) => [name, [...found]])),
  }
}
