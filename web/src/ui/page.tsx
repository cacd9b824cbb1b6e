import { type ReactNode, useEffect } from 'react'

interface PageProps {
  readonly title: string
  /** The heading, if it is more than the title. */
  readonly heading?: ReactNode
  readonly description?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** The frame of every page: title of the window, heading, actions, content. */
export function Page({ title, heading, description, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Tooldex`
  }, [title])
  return (
    <div className="mx-auto flex w-full max-w-7xl flex-col gap-5 px-4 py-5 sm:px-6">
      <header className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h1 className="text-xl font-semibold tracking-tight break-words">{heading ?? title}</h1>
          {description !== undefined && <p className="mt-0.5 text-sm text-muted">{description}</p>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  )
}
