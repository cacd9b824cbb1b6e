import type { OperationOutput } from 'tooldex/client'

/** A category with its tools, as the server counts it. */
export type CategoryCount = NonNullable<OperationOutput<'tools.search'>['facets']>['category'][number]

/** A category at its place in the tree, as a row that is visible. */
export interface CategoryRow extends CategoryCount {
  readonly level: number
  /** Its position among its siblings, from 1, and their number. */
  readonly position: number
  readonly siblings: number
  /** Undefined for a category without subcategories. */
  readonly isOpen: boolean | undefined
}

/** The visible rows of the tree: the top, and what is below opened categories. */
export function visibleRows(counts: readonly CategoryCount[], isOpen: (name: string) => boolean): CategoryRow[] {
  const below = new Map<string, CategoryCount[]>()
  const known = new Set(counts.map(({ value }) => value))
  for (const node of counts) {
    const parent = node.parent !== null && known.has(node.parent) ? node.parent : ''
    below.set(parent, [...(below.get(parent) ?? []), node])
  }
  const rowsBelow = (parent: string, level: number): CategoryRow[] =>
    (below.get(parent) ?? []).flatMap((node, at, siblings) => {
      const open = below.has(node.value) && node.value !== '' ? isOpen(node.value) : undefined
      const row = { ...node, level, position: at + 1, siblings: siblings.length, isOpen: open }
      return open === true ? [row, ...rowsBelow(node.value, level + 1)] : [row]
    })
  return rowsBelow('', 1)
}

/** The names of the categories above one. */
export function categoriesAbove(counts: readonly CategoryCount[], name: string): ReadonlySet<string> {
  const parents = new Map(counts.map(({ value, parent }) => [value, parent]))
  const above = new Set<string>()
  for (let at = parents.get(name) ?? null; at !== null && !above.has(at); at = parents.get(at) ?? null) above.add(at)
  return above
}

/** The categories that the URL opens (`+name`) and closes (`-name`), one in a line; those above the chosen one are open otherwise. */
export function readToggles(text: string | undefined): ReadonlyMap<string, boolean> {
  const lines = (text ?? '').split('\n').filter((line) => /^[+-]./u.test(line))
  return new Map(lines.map((line) => [line.slice(1), line.startsWith('+')]))
}

/** The toggles with one more, for the URL. */
export function writeToggle(toggles: ReadonlyMap<string, boolean>, name: string, isOpen: boolean): string {
  const next = new Map(toggles)
  next.set(name, isOpen)
  return Array.from(next, ([each, open]) => `${open ? '+' : '-'}${each}`).join('\n')
}
