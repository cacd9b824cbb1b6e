import * as z from 'zod'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { asStored } from '../../contract/as-stored.ts'
import { Readiness, readinessOnServer, ToolAnnotations, unlessReady } from '../../contract/catalog.ts'
import { Isolation } from '../../contract/run.ts'
import { ToolExample } from '../../contract/tool-doc.ts'
import { isReserved } from '../../rules/builtin-names.ts'
import { type FoundTool, findTool } from '../catalog/find-tool.ts'
import { defineOperation, type OperationContext, queryLimits } from '../operation.ts'
import { readSignIns } from '../sources/require-sign-in.ts'
import { toolViewOfCaller } from './tool-view.ts'

const loadBuiltins = lazyModule(() => import('../runs/builtins.ts'))
const loadDeclared = lazyModule(() => import('./declared-tool.ts'))
const loadOfferedDoc = lazyModule(() => import('../registry/offered-doc.ts'))

/** The level of detail of a description. */
export const DescribeLevel = z.enum(['summary', 'schema', 'full'])

/** The form of the schemas of a description: JSON Schema, or a TypeScript declaration. */
export const DescribeFormat = z.enum(['json', 'typescript'])

const Json = z.record(z.string(), z.unknown())

/** The input schema without its syntax. */
const SchemaInfo = z.object({
  required: z.array(z.string()),
  defaults: z.record(z.string(), z.unknown()),
  types: z.record(z.string(), z.array(z.string())),
})

/** The description of a tool, as read before a call. */
export const DescribedTool = z.object({
  id: z.string(),
  name: z.string(),
  namespace: z.string().optional(),
  summary: z.string(),
  category: z.string().nullable(),
  tags: z.array(z.string()),
  tool: z
    .object({ name: z.string(), description: z.string(), inputSchema: Json, outputSchema: Json.optional() })
    .optional(),
  /** The declaration of the tool, instead of its schemas, where it was requested. */
  typescript: z.string().optional(),
  annotations: asStored(ToolAnnotations).optional(),
  inputModes: z.array(z.string()).optional(),
  outputModes: z.array(z.string()).optional(),
  securitySummary: z.string().optional(),
  schemaInfo: SchemaInfo.optional(),
  exampleRequests: z.array(z.string()).optional(),
  examples: asStored(z.array(ToolExample)).optional(),
  externalRefs: z.array(z.string()).optional(),
  /** The source of the tool and its command. */
  notes: z.string().optional(),
  /** Present only if the tool cannot be called as it is. */
  readiness: Readiness.optional(),
  /** The isolation level, set by servers for tools that are processes. */
  isolation: Isolation.optional(),
})
export type DescribedTool = z.infer<typeof DescribedTool>

/** Describes tools at a level of detail. */
export const describeTools = defineOperation({
  name: 'tools.describe',
  summary:
    'Describe tools: a summary, the schema to call them with, or everything. Unknown names are listed beside the known tools.',
  scope: 'read',
  needs: ['catalog', 'registry?', 'sources?'],
  http: { method: 'post', path: '/describe', tag: 'search', body: queryLimits },
  input: z.object({
    ids: z
      .union([z.string().transform((id) => [id]), z.array(z.string())])
      .pipe(z.array(z.string().min(1)).min(1).max(50)),
    level: DescribeLevel.nullish().transform((level) => level ?? 'schema'),
    format: DescribeFormat.nullish().transform((format) => format ?? 'json'),
  }),
  output: z.object({
    tools: z.array(DescribedTool),
    /** Requested names that match no tool, with suggestions. */
    unknown: z.array(z.object({ id: z.string(), message: z.string(), hint: z.string() })).optional(),
  }),
  async handle({ ids, level, format }, context) {
    const unknown: UnknownTool[] = []
    const tools: DescribedTool[] = []
    for (const id of ids) {
      try {
        tools.push(await describeTool(context, id, { level, format }))
      } catch (thrown) {
        const error = toTooldexError(thrown)
        if (error.code !== 'TOOL_NOT_FOUND') throw thrown
        unknown.push({ id, error })
      }
    }
    if (tools.length === 0) throw noneKnown(unknown)
    const named = unknown.map(({ id, error: { message, hint } }) => ({ id, message, hint }))
    return { tools, ...(named.length === 0 ? {} : { unknown: named }) }
  },
})

/** The description of one tool of any source. */
async function describeTool(context: DescribeContext, id: string, { level, format }: DescribeOptions) {
  const isDeclared = format === 'typescript'
  if (isReserved(id)) {
    const builtin = (await loadBuiltins()).describeBuiltin(id, context)
    return isDeclared ? (await loadDeclared()).toDeclaredTool(builtin) : builtin
  }
  const found = await findTool(context, id)
  // Loaded on first use, because a server for configs starts without it.
  const { toDescribed } = await loadOfferedDoc()
  const needs = await approvalOf(context, found)
  const isolation = context.catalog.isolationOf(found)
  const doc = toDescribed(found, isDeclared && level === 'summary' ? 'schema' : level)
  const described = { ...doc, ...needs, ...(isolation === undefined ? {} : { isolation }) }
  return isDeclared ? (await loadDeclared()).toDeclaredTool(described, found, await context.catalog.open()) : described
}

type DescribeContext = OperationContext<'catalog' | 'registry?' | 'sources?'>

/** The extent and the form of descriptions. */
interface DescribeOptions {
  readonly level: z.infer<typeof DescribeLevel>
  readonly format: z.infer<typeof DescribeFormat>
}

/** Adds missing requirements and the need for approval, so that both are visible before a call. */
async function approvalOf(context: DescribeContext, found: FoundTool) {
  const readiness = context.catalog.readinessOf(found)
  const view = await toolViewOfCaller(context)
  const own = (await readSignIns(context, [found]))(found, view?.readinessOf(found.tool, readiness) ?? readiness)
  return unlessReady(readinessOnServer(own, context.origin))
}

interface UnknownTool {
  readonly id: string
  readonly error: TooldexError
}

function noneKnown(unknown: readonly UnknownTool[]): TooldexError {
  const [first] = unknown
  if (unknown.length === 1 && first !== undefined) return first.error
  const names = unknown.map(({ id }) => toOneLine(id).slice(0, 200))
  const hint = unknown.map(({ error }, index) => `${names[index]}: ${error.hint}`).join(' ')
  return new TooldexError('TOOL_NOT_FOUND', `Unknown tools: ${names.join(', ')}.`, { hint })
}
