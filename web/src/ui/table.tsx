import type { ReactNode } from 'react'
import { cx } from './cx.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  readonly align?: 'right'
  /** Hidden on narrow screens. */
  readonly isExtra?: boolean
  readonly className?: string
}

interface TableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}

/** A table of few rows; lists of thousands use a virtual list. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  const narrow = columns.filter(({ isExtra }) => isExtra !== true)
  const side = (column: Column<Row>) =>
    cx(
      // The outer padding of the first and last column that narrow screens show.
      column === narrow[0] && 'pl-4',
      column === narrow.at(-1) && 'pr-4',
      column.align === 'right' && 'text-right tabular-nums',
      column.isExtra && 'max-sm:hidden',
      column.className,
    )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="overflow-x-auto" tabIndex={0} aria-label={caption}>
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b border-line text-left text-xs text-muted">
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                className={cx('px-2 py-2 font-sans! font-medium sm:px-4 whitespace-nowrap', side(column))}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="border-b border-line last:border-0 hover:bg-hover/60">
              {columns.map((column) => (
                <td key={column.title} className={cx('px-2 py-2 align-top sm:px-4', side(column))}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
