import { TooldexError } from '../../base/errors.ts'
import type { ErrorMessage } from './messages.ts'

/** An error in the form in which it is sent; one that is not ours keeps its stack for the log. */
export function toErrorMessage(thrown: unknown): ErrorMessage {
  if (!(thrown instanceof TooldexError)) return { stack: String((thrown as Error | undefined)?.stack ?? thrown) }
  const { code, message, hint, problems } = thrown
  return { code, message, hint, problems }
}

/** The error that was sent. */
export function fromErrorMessage(refusal: ErrorMessage): Error {
  if ('stack' in refusal) return Object.assign(new Error('a launcher process failed'), refusal)
  const { code, message, hint, problems } = refusal
  return new TooldexError(code, message, { hint, problems })
}
