import type { ReactNode } from 'react'
import { cx } from './cx.ts'

interface CardProps {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly className?: string
  /** Whether the content reaches the border, as tables do. */
  readonly isFlush?: boolean
}

/** A bordered section with a heading. */
export function Card({ title, actions, children, className, isFlush }: CardProps) {
  return (
    <section className={cx('min-w-0 rounded-lg border border-line bg-surface shadow-panel', className)}>
      {(title !== undefined || actions !== undefined) && (
        <header className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2">
          <h2 className="text-sm font-semibold">{title}</h2>
          {actions !== undefined && <div className="flex items-center gap-2">{actions}</div>}
        </header>
      )}
      <div className={isFlush ? '' : 'p-4'}>{children}</div>
    </section>
  )
}
