import * as z from 'zod'
import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { toOneLine } from '../../base/visible-text.ts'
import { cutText } from '../../catalog/index.ts'
import { asStored } from '../../contract/as-stored.ts'
import { ToolAnnotations } from '../../contract/catalog.ts'
import { Isolation } from '../../contract/run.ts'
import { docLimits, ToolExample } from '../../contract/tool-doc.ts'
import { Readiness, ready, unlessReady } from '../../contract/tool-state.ts'
import { fromConfig } from '../../rules/runnable-tool.ts'
import { findTool } from '../catalog/find-tool.ts'
import { configToolId } from '../catalog/live-catalog.ts'
import type { FoundTool } from '../catalog/resolve-name.ts'
import { defineOperation, queryLimits, type ToolContext } from '../operation.ts'
import { viewOf } from './tool-view.ts'

const loadBuiltins = lazyModule(() => import('../runs/builtins.ts'))
const loadOfferedDoc = lazyModule(() => import('../registry/offered-doc.ts'))

/** The level of detail of a description. */
export const DescribeLevel = z.enum(['summary', 'schema', 'full'])

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
  needs: ['catalog', 'registry?'],
  http: { method: 'post', path: '/describe', tag: 'search', body: queryLimits },
  input: z.object({
    ids: z
      .union([z.string().transform((id) => [id]), z.array(z.string())])
      .pipe(z.array(z.string().min(1)).min(1).max(50)),
    level: DescribeLevel.nullish().transform((level) => level ?? 'schema'),
  }),
  output: z.object({
    tools: z.array(DescribedTool),
    /** Requested names that match no tool, with suggestions. */
    unknown: z.array(z.object({ id: z.string(), message: z.string(), hint: z.string() })).optional(),
  }),
  async handle({ ids, level }, context) {
    const unknown: UnknownTool[] = []
    const tools: DescribedTool[] = []
    for (const id of ids) {
      try {
        tools.push(await describeTool(context, id, level))
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
async function describeTool(context: ToolContext, id: string, level: z.infer<typeof DescribeLevel>) {
  if (id.startsWith('tooldex:')) return (await loadBuiltins()).describeBuiltin(id)
  const found = await findTool(context, id)
  if (found.from === 'config') {
    const tool = fromConfig(found.resolved, found.entry.cliName)
    const needs = await approvalOf(context, found.entry.toolName)
    return { ...toDoc(found, level), ...needs, ...isolationField(context.catalog.isolationOf(tool)) }
  }
  // Loaded on first use, because a server for configs starts without it.
  const { toOfferedDoc } = await loadOfferedDoc()
  const { readinessOf, isolationOf } = await context.catalog.open()
  const needs = await approvalOf(context, found.tool.name, readinessOf(found.tool))
  const isolation = isolationField(isolationOf(found.tool))
  return { ...toOfferedDoc(found.id, found.tool, level, found.registered), ...needs, ...isolation }
}

const isolationField = (isolation: Isolation | undefined) => (isolation === undefined ? {} : { isolation })

/** Adds missing requirements and the need for approval, so that both are visible before a call. */
async function approvalOf(context: ToolContext, name: string, readiness: Readiness = ready) {
  const view = context.registry === undefined ? undefined : await viewOf(context)
  return unlessReady(view?.readinessOf({ name }, readiness) ?? readiness)
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

function toDoc({ entry, resolved }: FoundTool, level: z.infer<typeof DescribeLevel>): DescribedTool {
  const { toolName: name, description, inputSchema, category, tags } = entry
  const short = cutText(description, docLimits.summary)
  const summary = { id: configToolId(entry), name, namespace: entry.cliName, summary: short, category, tags }
  if (level === 'summary') return summary
  const { annotations, exampleRequests, command, timeout } = resolved.tool
  const schema = {
    ...summary,
    tool: { name, description, inputSchema },
    ...(annotations === undefined ? {} : { annotations }),
    schemaInfo: toSchemaInfo(inputSchema),
  }
  if (level === 'schema') return schema
  const runs = `${resolved.baseCommand} ${command}`.trim()
  return { ...schema, exampleRequests, notes: `Runs \`${runs}\`, for at most ${timeout || 30} seconds.` }
}

function toSchemaInfo(schema: Readonly<Record<string, unknown>>): z.infer<typeof SchemaInfo> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, { type?: unknown; default?: unknown }>)
  return {
    required: [...((schema.required ?? []) as readonly string[])],
    defaults: Object.fromEntries(
      properties.filter(([, { default: value }]) => value !== undefined).map(([k, v]) => [k, v.default]),
    ),
    types: Object.fromEntries(properties.map(([key, { type }]) => [key, [String(type ?? 'any')]])),
  }
}
