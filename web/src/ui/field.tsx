import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react'
import { cx } from './cx.ts'

interface Labelled {
  readonly label: ReactNode
  /** An explanation below the field. */
  readonly hint?: ReactNode
  /** What is wrong with the value. */
  readonly error?: ReactNode
  /** Whether only screen readers get the label. */
  readonly hideLabel?: boolean
}

const box =
  'w-full rounded-md border border-line-strong/60 bg-surface px-2.5 text-text transition-colors hover:border-line-strong focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0 disabled:opacity-60 aria-invalid:border-bad'

interface FrameProps extends Labelled {
  readonly id: string
  readonly children: ReactNode
}

function Frame({ id, label, hint, error, hideLabel, children }: FrameProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'text-sm font-medium'}>
        {label}
      </label>
      {children}
      {error !== undefined ? (
        <p id={`${id}-note`} className="text-xs text-bad">
          {error}
        </p>
      ) : (
        hint !== undefined && (
          <p id={`${id}-note`} className="text-xs text-muted">
            {hint}
          </p>
        )
      )}
    </div>
  )
}

const noteOf = (id: string, { hint, error }: Labelled) =>
  hint === undefined && error === undefined ? undefined : `${id}-note`

/** A text field with its label. */
export function Field({
  label,
  hint,
  error,
  hideLabel,
  className,
  ...rest
}: Labelled & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  const frame = { id, label, hint, error, ...(hideLabel === undefined ? {} : { hideLabel }) }
  return (
    <Frame {...frame}>
      <input
        id={id}
        {...rest}
        aria-describedby={noteOf(id, frame)}
        aria-invalid={error !== undefined || undefined}
        className={cx(box, 'h-8 text-sm', className)}
      />
    </Frame>
  )
}

/** A field of several lines. */
export function TextArea({
  label,
  hint,
  error,
  hideLabel,
  className,
  ...rest
}: Labelled & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId()
  const frame = { id, label, hint, error, ...(hideLabel === undefined ? {} : { hideLabel }) }
  return (
    <Frame {...frame}>
      <textarea
        id={id}
        {...rest}
        aria-describedby={noteOf(id, frame)}
        aria-invalid={error !== undefined || undefined}
        className={cx(box, 'py-1.5 text-sm', className)}
      />
    </Frame>
  )
}

/** A choice of one of few values. */
export function Select({
  label,
  hint,
  error,
  hideLabel,
  className,
  children,
  ...rest
}: Labelled & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId()
  const frame = { id, label, hint, error, ...(hideLabel === undefined ? {} : { hideLabel }) }
  return (
    <Frame {...frame}>
      <select
        id={id}
        {...rest}
        aria-describedby={noteOf(id, frame)}
        aria-invalid={error !== undefined || undefined}
        className={cx(box, 'h-8 text-sm', className)}
      >
        {children}
      </select>
    </Frame>
  )
}

/** A yes or no. */
export function Checkbox({ label, hint, ...rest }: Labelled & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <div className="flex items-start gap-2">
      <input id={id} type="checkbox" {...rest} className="mt-0.5 size-4 accent-accent" />
      <label htmlFor={id} className="text-sm">
        {label}
        {hint !== undefined && <span className="block text-xs text-muted">{hint}</span>}
      </label>
    </div>
  )
}
