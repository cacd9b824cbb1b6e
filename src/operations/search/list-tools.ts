import * as z from 'zod'
import type { Catalog } from '../../catalog/index.ts'
import type { SearchFilters } from '../../contract/catalog.ts'
import { Readiness, unlessReady } from '../../contract/catalog.ts'
import type { ArgConstraint } from '../../contract/policy.ts'
import { defineOperation } from '../operation.ts'
import { stateFilters, toCatalogFilters } from './search-filters.ts'
import { type ToolView, toolViewOfCaller } from './tool-view.ts'

/** One argument in a list. */
const ListedArg = z.object({
  name: z.string(),
  /** Type and constraints, shortest first: `integer`, `required`, `max=100`. */
  notes: z.array(z.string()),
})

/** Lists every tool with its command and arguments. */
export const listTools = defineOperation({
  name: 'tools.list',
  summary: 'List every tool with the command it runs and its arguments.',
  scope: 'read',
  needs: ['catalog', 'registry?'],
  input: z.object(stateFilters),
  output: z.object({
    name: z.string(),
    executor: z.string().nullable(),
    tools: z.array(
      z.object({
        name: z.string(),
        cli: z.string(),
        description: z.string(),
        command: z.string(),
        args: z.array(ListedArg),
        /** Present only if the tool cannot be called now. */
        readiness: Readiness.optional(),
      }),
    ),
  }),
  async handle(filters, context) {
    const { configs, policy } = context.catalog.current()
    const [only] = configs
    const executor = policy?.executor.type === 'docker' ? `docker (image=${policy.executor.image})` : null
    return {
      name: configs.length === 1 && only !== undefined ? only.config.name : 'tooldex',
      executor,
      tools: rowsOf(await context.catalog.open(), toCatalogFilters(filters), await toolViewOfCaller(context)),
    }
  },
})

/** The tools that pass the filters, by name. */
function rowsOf(tools: Catalog, filters: SearchFilters, view: ToolView | undefined) {
  const rows = tools.search({ filters, view, limit: tools.size }).hits.map(({ tool, runnable, readiness }) => {
    const { name, namespace: cli = '', description } = tool
    const resolved = runnable?.resolved
    const args = (resolved?.tool.args ?? []).map((arg) => {
      return { name: arg.name, notes: notesOf(arg, resolved?.argConstraints[arg.name]) }
    })
    const command = `${resolved?.baseCommand ?? ''} ${resolved?.tool.command ?? ''}`.trim()
    return { name, cli, description, command, args, ...unlessReady(readiness) }
  })
  return rows.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

type Arg = {
  type: string
  required: boolean
  positional: unknown
  default?: unknown
  enum?: unknown[] | null | undefined
}

function notesOf(arg: Arg, constraint: ArgConstraint = {}): string[] {
  const { pattern, min, max } = constraint
  return [
    ...(arg.type === 'string' ? [] : [arg.type]),
    ...(arg.required ? ['required'] : []),
    ...(arg.positional === false ? [] : ['positional']),
    ...(arg.default == null ? [] : [`default=${String(arg.default)}`]),
    ...(arg.enum == null || arg.enum.length === 0 ? [] : [`enum=${arg.enum.join('|')}`]),
    ...(pattern === undefined ? [] : [`pattern=${pattern}`]),
    ...(min === undefined ? [] : [`min=${min}`]),
    ...(max === undefined ? [] : [`max=${max}`]),
  ]
}
