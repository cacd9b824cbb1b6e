import { TooldexError } from '../../base/errors.ts'
import type { Refusal } from './messages.ts'

/** An error in the form in which it is sent; one that is not ours keeps its stack for the log. */
export function toRefusal(thrown: unknown): Refusal {
  if (!(thrown instanceof TooldexError)) return { stack: String((thrown as Error | undefined)?.stack ?? thrown) }
  const { code, message, hint, problems } = thrown
  return { code, message, hint, problems }
}

/** The error that was sent. */
export function fromRefusal(refusal: Refusal): Error {
  if ('stack' in refusal) return Object.assign(new Error('a launcher process failed'), refusal)
  const { code, message, hint, problems } = refusal
  return new TooldexError(code, message, { hint, problems })
}
