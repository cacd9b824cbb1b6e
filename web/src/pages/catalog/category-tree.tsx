import { ChevronRight } from 'lucide-react'
import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { cx } from '../../ui/cx.ts'
import { SafeText } from '../../ui/safe-text.tsx'
import type { CatalogSearch } from './catalog-query.ts'
import {
  type CategoryCount,
  type CategoryRow,
  categoriesAbove,
  readToggles,
  visibleRows,
  writeToggle,
} from './category-nodes.ts'

interface CategoryTreeProps {
  readonly search: CatalogSearch
  readonly counts: readonly CategoryCount[]
  readonly onChange: (change: CatalogSearch) => void
}

/** The categories as a tree; a count includes the subcategories, as the filter does. */
export function CategoryTree({ search, counts, onChange }: CategoryTreeProps) {
  const label = useId()
  const tree = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState('')
  const chosen = search.category ?? ''
  const toggles = readToggles(search.tree)
  const above = categoriesAbove(counts, chosen)
  const isListed = chosen === '' || counts.some(({ value }) => value === chosen)
  const all = isListed ? counts : [{ value: chosen, count: 0, own: 0, parent: null }, ...counts]
  const rows = visibleRows(all, (name) => toggles.get(name) ?? above.has(name))
  if (rows.length === 0) return null
  // Tab reaches one category: the focused one, the chosen one, or the first.
  const reached = [focused, chosen].find((name) => rows.some(({ value }) => value === name)) ?? rows[0]?.value
  const toggle = (row: CategoryRow, isOpen: boolean) => onChange({ tree: writeToggle(toggles, row.value, isOpen) })
  const choose = ({ value }: CategoryRow) => onChange({ category: value === chosen ? '' : value })
  const focusAt = (index: number) => {
    const items = tree.current?.querySelectorAll<HTMLElement>('[role="treeitem"]')
    items?.[Math.max(0, Math.min(index, rows.length - 1))]?.focus()
  }
  const onKeyDown = (event: KeyboardEvent, row: CategoryRow, index: number) => {
    const parent = () => rows.findLastIndex(({ level }, at) => at < index && level === row.level - 1)
    const steps = new Map<string, () => void>([
      ['ArrowDown', () => focusAt(index + 1)],
      ['ArrowUp', () => focusAt(index - 1)],
      ['Home', () => focusAt(0)],
      ['End', () => focusAt(rows.length - 1)],
      ['ArrowRight', () => (row.isOpen === false ? toggle(row, true) : row.isOpen && focusAt(index + 1))],
      ['ArrowLeft', () => (row.isOpen === true ? toggle(row, false) : row.level > 1 && focusAt(parent()))],
      ['Enter', () => choose(row)],
      [' ', () => choose(row)],
    ])
    const step = steps.get(event.key)
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    step()
  }
  return (
    <div>
      <p id={label} className="mb-1 text-xs font-medium text-muted">
        Category
      </p>
      <div ref={tree} role="tree" aria-labelledby={label} className="max-h-96 overflow-y-auto">
        {rows.map((row, index) => (
          <div
            key={row.value}
            role="treeitem"
            aria-level={row.level}
            aria-posinset={row.position}
            aria-setsize={row.siblings}
            aria-selected={row.value === chosen}
            {...(row.isOpen === undefined ? {} : { 'aria-expanded': row.isOpen })}
            tabIndex={row.value === reached ? 0 : -1}
            onFocus={() => setFocused(row.value)}
            onKeyDown={(event) => onKeyDown(event, row, index)}
            onClick={() => choose(row)}
            style={{ paddingLeft: `${(row.level - 1) * 0.75}rem` }}
            className={cx(
              'flex cursor-pointer items-center gap-1 rounded-md py-1 pr-2 text-sm -outline-offset-2 hover:bg-hover',
              row.value === chosen && 'bg-accent-soft font-medium text-accent-strong',
            )}
          >
            <Expander row={row} onToggle={() => toggle(row, row.isOpen !== true)} />
            <span className="min-w-0 flex-1 truncate">
              <SafeText max={60}>{row.value}</SafeText>
            </span>
            <span className="text-xs tabular-nums text-muted">{row.count.toLocaleString('en')}</span>
          </div>
        ))}
      </div>
    </div>
  )
}

/** Opens and closes a category with a pointer; the keyboard uses the arrows. */
function Expander({ row, onToggle }: { readonly row: CategoryRow; readonly onToggle: () => void }) {
  if (row.isOpen === undefined) return <span className="size-5 shrink-0" />
  return (
    <span
      aria-hidden
      data-expander={row.value}
      onClick={(event) => {
        event.stopPropagation()
        onToggle()
      }}
      className="grid size-5 shrink-0 place-items-center rounded hover:bg-line"
    >
      <ChevronRight className={cx('size-3.5 transition-transform', row.isOpen && 'rotate-90')} />
    </span>
  )
}
