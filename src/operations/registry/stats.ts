import * as z from 'zod'
import { ToolSource } from '../../contract/catalog.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { readableNames } from '../search/tool-view.ts'

const Counts = z.record(z.string(), z.int())

const Offered = z.object({ total: z.int(), source: Counts })

/** Counts the contents of the registry. */
export const readStats = defineOperation({
  name: 'catalog.stats',
  summary: 'Count tools, versions, categories and offered tools, and return the size of the database.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/stats', tag: 'catalog' },
  input: z.object({}),
  output: z.object({
    tools: z.object({ total: z.int(), status: Counts, executorType: Counts }).describe('Registered tools.'),
    versions: z.int(),
    categories: z.int(),
    tags: z.int(),
    policies: z.int(),
    openProposals: z.int(),
    catalog: Offered.describe('The tools that agents are offered, by source.'),
    catalogue: Offered.describe('The former name of `catalog`.'),
    keys: z.int().optional().describe('Keys that are not revoked; only for administrators.'),
    database: z
      .object({ engine: z.enum(['pglite', 'postgres']), bytes: z.int() })
      .optional()
      .describe('Only for administrators of the first workspace: it is the size of all workspaces.'),
  }),
  async handle(_, context) {
    const { stats } = context.registry.stores
    const isAdmin = context.scopes.has('admin')
    const names = await readableNames(context)
    const { status, executorType, keys, ...counts } = await stats.count(context.caller.workspace, names)
    const total = Object.values(status).reduce((sum, number) => sum + number, 0)
    const offered = await countOffered(context, names)
    return {
      tools: { total, status: { ...status }, executorType: { ...executorType } },
      ...counts,
      catalog: offered,
      catalogue: offered,
      ...(isAdmin ? { keys } : {}),
      ...(isAdmin && context.caller.workspace === 'default' ? { database: await stats.size() } : {}),
    }
  },
})

async function countOffered({ catalog }: OperationContext<'catalog'>, names: ReadonlySet<string> | undefined) {
  const tools = await catalog.open()
  const seen = Array.from(tools.entries.values(), ({ tool }) => tool).filter(({ name }) => names?.has(name) ?? true)
  const sources = seen.map(({ source }) => source)
  const source = Object.fromEntries(
    ToolSource.options.flatMap((kind) => {
      const number = sources.filter((each) => each === kind).length
      return number === 0 ? [] : [[kind, number]]
    }),
  )
  return { total: sources.length, source }
}
