import { SchemaCache } from '../base/json-schema.ts'
import { checkTool } from '../operations/registry/check-tool.ts'
import type { Registry } from '../operations/registry/registry.ts'

const remembered = { schemas: new SchemaCache(), scripts: new Map() }

/** Everything that is wrong with a tool. */
export const checkRegistered: Registry['check'] = (content, signal) => checkTool(content, { ...remembered, signal })
