import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { SafeText } from './safe-text.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isError: boolean
}

let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()
const shownMs = 6000
const maxToasts = 4

function update(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

const remove = (id: number): void => update(toasts.filter((toast) => toast.id !== id))

/** Shows a message for a few seconds; an error stays until it is closed. */
export function showToast(text: string, { isError = false }: { readonly isError?: boolean } = {}): void {
  const id = ++lastId
  update([...toasts.slice(1 - maxToasts), { id, text, isError }])
  if (!isError) setTimeout(() => remove(id), shownMs)
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The place of toasts, once in the page. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div
      role="status"
      aria-live="polite"
      className="fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2"
    >
      {shown.map(({ id, text, isError }) => (
        <div
          key={id}
          className="flex items-start gap-2 rounded-lg border border-line bg-raised p-3 text-sm shadow-float"
        >
          {isError ? (
            <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
          ) : (
            <CircleCheck className="mt-0.5 size-4 shrink-0 text-ok" aria-hidden />
          )}
          <span className="min-w-0 flex-1 break-words">
            <SafeText max={300}>{text}</SafeText>
          </span>
          <button type="button" aria-label="Close" onClick={() => remove(id)} className="text-muted hover:text-text">
            <X className="size-4" aria-hidden />
          </button>
        </div>
      ))}
    </div>
  )
}
