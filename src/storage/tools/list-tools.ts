import { and, asc, desc, eq, ilike, inArray, lt, or, type SQL, sql } from 'drizzle-orm'
import type { RegisteredTool, ToolListQuery, ToolSort, ToolVersion } from '../../contract/registry.ts'
import type { Page, PageQuery } from '../../contract/stores.ts'
import { isOneOf } from '../categories/tags.ts'
import type { Db } from '../database.ts'
import { type Cursors, isBeyondPosition, readRowPage } from '../page.ts'
import { toTool, toVersion } from '../rows.ts'
import { tools, toolVersions } from '../schema.ts'

const columns = { name: tools.name, updatedAt: tools.updatedAt, createdAt: tools.createdAt }
type SortKey = keyof typeof columns

/** A page of tools. */
export async function selectTools(
  db: Db,
  cursors: Cursors,
  workspace: string,
  query: ToolListQuery,
): Promise<Page<RegisteredTool>> {
  const { limit, cursor, page, total, names, ...filters } = query
  const list = ['tools', workspace, { ...filters, ...(names && { names: [...names] }) }]
  const { key, order } = readSort(filters.sort ?? '-updatedAt')
  const column = columns[key]
  const filter = conditions(workspace, query)
  const read = await readRowPage(cursors, {
    list,
    limit,
    cursor,
    read: (position, maxRows) =>
      db
        .select()
        .from(tools)
        .where(and(...filter, isBeyondPosition(position, { column, id: tools.id, order })))
        .orderBy(...[column, tools.id].map(order === 'asc' ? asc : desc))
        .limit(maxRows)
        .offset(limit * ((page ?? 1) - 1)),
    toItem: toTool,
    toPosition: (row) => ({ value: row[key], id: row.id }),
  })
  return total === true ? { ...read, total: await db.$count(tools, and(...filter)) } : read
}

function readSort(sort: ToolSort): { readonly key: SortKey; readonly order: 'asc' | 'desc' } {
  return sort.startsWith('-')
    ? { key: sort.slice(1) as SortKey, order: 'desc' }
    : { key: sort as SortKey, order: 'asc' }
}

/** A page of the versions of a tool, newest first. */
export function selectVersions(
  db: Db,
  cursors: Cursors,
  workspace: string,
  toolId: string,
  query: PageQuery,
): Promise<Page<ToolVersion>> {
  const own = [eq(tools.workspaceId, workspace), eq(tools.id, toolId)]
  return readRowPage(cursors, {
    ...query,
    list: ['versions', workspace, toolId],
    read: (position, maxRows) =>
      db
        .select({ version: toolVersions })
        .from(toolVersions)
        .innerJoin(tools, eq(tools.id, toolVersions.toolId))
        .where(and(...own, position && lt(toolVersions.version, Number(position.value))))
        .orderBy(desc(toolVersions.version))
        .limit(maxRows),
    toItem: ({ version }) => toVersion(version),
    toPosition: ({ version: { version } }) => ({ value: version, id: toolId }),
  })
}

function conditions(workspace: string, query: ToolListQuery): readonly (SQL | undefined)[] {
  const { status, categoryId, tags, executorType, search, namespace, names } = query
  const like = search === undefined || search === '' ? undefined : `%${search.replace(/[\\%_]/g, '\\$&')}%`
  return [
    eq(tools.workspaceId, workspace),
    namespace === undefined ? undefined : eq(sql`lower(${tools.namespace})`, namespace.toLowerCase()),
    isOneOf(names),
    status?.length ? inArray(tools.status, [...status]) : undefined,
    executorType?.length ? inArray(tools.executorType, [...executorType]) : undefined,
    tags?.length ? sql`${tools.tags} @> ${JSON.stringify(tags)}::jsonb` : undefined,
    categoryId === undefined ? undefined : inCategory(workspace, categoryId),
    like === undefined
      ? undefined
      : or(...[tools.name, tools.displayName, tools.description].map((at) => ilike(at, like))),
  ]
}

/** The condition that a tool is in a category or one of its descendants. */
const inCategory = (workspace: string, id: string): SQL => sql`${tools.categoryId} in (
  with recursive below as (
    select id from tool_categories where id = ${id}::uuid and workspace_id = ${workspace}
    union
    select child.id from tool_categories child join below on child.parent_id = below.id
  ) select id from below)`
