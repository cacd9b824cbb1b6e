import type { ReactNode } from 'react'

interface EmptyStateProps {
  readonly icon?: ReactNode
  readonly title: string
  /** What to do next. */
  readonly children?: ReactNode
  readonly actions?: ReactNode
}

/** A list without items: why, and what to do next. */
export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-10 text-center">
      {icon !== undefined && <div className="text-faint [&_svg]:size-6">{icon}</div>}
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-md text-sm text-muted">{children}</div>}
      {actions !== undefined && <div className="mt-2 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  )
}
