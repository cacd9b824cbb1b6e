import { and, asc, desc, eq, ilike, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { RegisteredTool } from '../../contract/registry.ts'
import type { Page } from '../../contract/stores.ts'
import type { ToolListQuery, ToolSort } from '../../contract/tool-list.ts'
import { isOneOf } from '../categories/tags.ts'
import type { Db } from '../database.ts'
import type { Cursors } from '../page.ts'
import { toTool } from '../rows.ts'
import { tools } from '../schema.ts'

const columns = { name: tools.name, updatedAt: tools.updatedAt, createdAt: tools.createdAt }
type SortKey = keyof typeof columns

/** A page of tools. Ties are broken by id, so that no page repeats or loses one. */
export async function selectTools(
  db: Db,
  cursors: Cursors,
  workspace: string,
  query: ToolListQuery,
): Promise<Page<RegisteredTool>> {
  const { limit, cursor, page, total, names, ...filters } = query
  const list = ['tools', workspace, { ...filters, ...(names && { names: [...names] }) }]
  const [key, direction] = readSort(filters.sort ?? '-updatedAt')
  const position = cursors.read(list, cursor)
  const column = columns[key]
  const after = direction === 'asc' ? sql`>` : sql`<`
  const value = key === 'name' ? position?.value : new Date(position?.value ?? 0)
  const beyond = position && sql`(${column}, ${tools.id}) ${after} (${sql.param(value, column)}, ${position.id}::uuid)`
  const filter = conditions(workspace, query)
  const order = direction === 'asc' ? [asc(column), asc(tools.id)] : [desc(column), desc(tools.id)]
  const rows = await db
    .select()
    .from(tools)
    .where(and(...filter, beyond))
    .orderBy(...order)
    .limit(limit + 1)
    .offset(limit * ((page ?? 1) - 1))
  const items = rows.slice(0, limit).map(toTool)
  const last = items.at(-1)
  const next =
    rows.length > limit && last !== undefined ? cursors.write(list, { value: last[key], id: last.id }) : undefined
  const count = total === true ? await db.$count(tools, and(...filter)) : undefined
  return {
    items,
    ...(next === undefined ? {} : { nextCursor: next }),
    ...(count === undefined ? {} : { total: count }),
  }
}

function readSort(sort: ToolSort): readonly [SortKey, 'asc' | 'desc'] {
  return sort.startsWith('-') ? [sort.slice(1) as SortKey, 'desc'] : [sort as SortKey, 'asc']
}

function conditions(workspace: string, query: ToolListQuery): readonly (SQL | undefined)[] {
  const { status, categoryId, tags, executorType, search, names } = query
  const like = search === undefined || search === '' ? undefined : `%${search.replace(/[\\%_]/g, '\\$&')}%`
  return [
    eq(tools.workspaceId, workspace),
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
