import type { ReactNode } from 'react'
import { cx } from './cx.ts'

/** The meaning of a badge. */
export type Tone = 'neutral' | 'ok' | 'warn' | 'bad' | 'info' | 'accent'

const tones: Readonly<Record<Tone, string>> = {
  neutral: 'bg-sunken text-muted',
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  info: 'bg-info-soft text-info',
  accent: 'bg-accent-soft text-accent-strong',
}

/** The tones of tools and executions by their status. */
export const statusTones: Readonly<Record<string, Tone>> = {
  ACTIVE: 'ok',
  DRAFT: 'info',
  DEPRECATED: 'warn',
  DISABLED: 'neutral',
  QUEUED: 'neutral',
  PENDING: 'neutral',
  RUNNING: 'info',
  WAITING: 'warn',
  SUCCESS: 'ok',
  SUCCEEDED: 'ok',
  FAILED: 'bad',
  TIMEOUT: 'bad',
  CANCELLED: 'neutral',
}

/** A short label with a meaning. */
export function Badge({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <span
      className={cx(
        'inline-flex h-5 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap',
        tones[tone],
      )}
    >
      {children}
    </span>
  )
}

/** The status of a tool or an execution. */
export function StatusBadge({ status }: { readonly status: string }) {
  const text = status.charAt(0) + status.slice(1).toLowerCase()
  return <Badge tone={statusTones[status] ?? 'neutral'}>{text.replaceAll('_', ' ')}</Badge>
}
