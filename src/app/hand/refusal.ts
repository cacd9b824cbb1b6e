import { TooldexError, toTooldexError } from '../../base/errors.ts'
import type { Refusal } from './messages.ts'

/** An error, to be sent. */
export function toRefusal(thrown: unknown): Refusal {
  const { code, message, hint, problems } = toTooldexError(thrown)
  return { code, message, hint, problems }
}

/** An error that was sent. */
export const fromRefusal = ({ code, message, hint, problems }: Refusal): TooldexError =>
  new TooldexError(code, message, { hint, problems })
