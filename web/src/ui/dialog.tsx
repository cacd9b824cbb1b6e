import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

interface DialogProps {
  readonly title: ReactNode
  readonly description?: ReactNode
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly children: ReactNode
  /** Buttons at the end. */
  readonly actions?: ReactNode
}

/** A modal dialog; Escape and a click outside close it. */
export function Dialog({ title, description, isOpen, onClose, children, actions }: DialogProps) {
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Radix.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          className="fixed top-[10vh] left-1/2 z-50 flex max-h-[80vh] w-[min(42rem,calc(100vw-1.5rem))] -translate-x-1/2 flex-col rounded-xl border border-line bg-raised shadow-float outline-none"
        >
          <div className="flex items-start justify-between gap-4 px-5 pt-4 pb-2">
            <div className="min-w-0">
              <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="mt-0.5 text-sm text-muted">{description}</Radix.Description>
              )}
            </div>
            <Radix.Close aria-label="Close" className="rounded-md p-1 text-muted hover:bg-hover hover:text-text">
              <X className="size-4" aria-hidden />
            </Radix.Close>
          </div>
          <div className="min-h-0 overflow-y-auto px-5 py-2">{children}</div>
          {actions !== undefined && (
            <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{actions}</div>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
