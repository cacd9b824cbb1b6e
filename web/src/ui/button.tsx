import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { cx } from './cx.ts'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly tone?: 'primary' | 'plain' | 'quiet' | 'danger'
  readonly size?: 'sm' | 'md'
  /** Shows progress, and prevents a second click. */
  readonly isBusy?: boolean
  readonly icon?: ReactNode
}

const tones = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent',
  plain: 'bg-surface text-text hover:bg-hover border-line shadow-panel',
  quiet: 'bg-transparent text-muted hover:bg-hover hover:text-text border-transparent',
  danger: 'bg-surface text-bad hover:bg-bad-soft border-line shadow-panel',
} as const
const sizes = { sm: 'h-7 px-2 text-xs gap-1.5', md: 'h-8 px-3 text-sm gap-2' } as const

/** A button. */
export function Button({ tone = 'plain', size = 'md', isBusy, icon, children, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-busy={isBusy || undefined}
      disabled={rest.disabled || isBusy}
      className={cx(
        'inline-flex shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap transition-colors disabled:opacity-55',
        tones[tone],
        sizes[size],
        className,
      )}
    >
      {isBusy ? (
        <span className="size-3.5 animate-spin rounded-full border-2 border-current border-t-transparent" aria-hidden />
      ) : (
        icon
      )}
      {children}
    </button>
  )
}
