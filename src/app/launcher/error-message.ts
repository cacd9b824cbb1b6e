import { TooldexError } from '../../base/errors.ts'
import type { ErrorMessage } from './messages.ts'

/** Serializes an error; an unexpected error keeps its stack for the log. */
export function toErrorMessage(thrown: unknown): ErrorMessage {
  if (!(thrown instanceof TooldexError)) return { stack: String((thrown as Error | undefined)?.stack ?? thrown) }
  const { code, message, hint, problems } = thrown
  return { code, message, hint, problems }
}

/** Restores a serialized error. */
export function fromErrorMessage(error: ErrorMessage): Error {
  if ('stack' in error) return Object.assign(new Error('a launcher process failed'), error)
  const { code, message, hint, problems } = error
  return new TooldexError(code, message, { hint, problems })
}
