import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { withoutPeriod } from '../../diagnostics/sentences.ts'
import { causesOfError } from '../network/run-remote.ts'
import { WiderScopeError } from './token-source.ts'

const maxCharacters = 500

/** Called after each start and each failure of the server, with the reason of the failure. */
export type UpstreamAttempt = (failure: string | undefined, needsSignIn: boolean) => void

/** Whether the failure is that nobody has signed in at the server. */
export const needsSignIn = (error: unknown): boolean =>
  causesOfError(error).some((each) => each instanceof TooldexError && each.code === 'SIGN_IN_REQUIRED')

/** Whether the sign-in lasts, but its scope is too narrow for this request. */
export const needsWiderScope = (error: unknown): boolean =>
  causesOfError(error).some((each) => each instanceof WiderScopeError)

/** The failure of a server as a phrase that follows its name; foreign texts are cut to one short line. */
export function describeFailure(error: unknown): string {
  if (needsSignIn(error)) return 'needs a sign-in'
  if (error instanceof TooldexError) return ownFailure(error)
  const ours = causesOfError(error).find((each) => each instanceof TooldexError)
  if (ours instanceof TooldexError) return ownFailure(ours)
  const { data, message = 'no response' } = error as { data?: { status?: number }; message?: string }
  if (data?.status !== undefined) return `responded with HTTP ${data.status}`
  const code = causesOfError(error).map((each) => (each as NodeJS.ErrnoException).code)
  const system = code.find((each) => typeof each === 'string' && /^(E[A-Z]+|UND_ERR_\w+|CERT_\w+)$/.test(each))
  if (system !== undefined) return `could not be reached (${system})`
  return `failed: ${cut(message)}`
}

/** The next step after some failures, as the end of the phrase; an administrator takes it. */
export function nextStep(error: unknown, server: string, isSource: boolean): string {
  const isRefused = causesOfError(error).some((each) => each instanceof TooldexError && each.code === 'ADDRESS_REFUSED')
  const { status } = (error as { data?: { status?: number } }).data ?? {}
  if (isRefused && isSource) return `; an administrator may allow it: tooldex sources approve ${server} --allow-private`
  if (isRefused) return `; it is allowed by "allowPrivate": true in the definition of ${server}`
  // Only sources have one.
  return status === 401 && !isSource ? `; for a sign-in, add it as a source: tooldex add ${server} URL` : ''
}

/** A program or a sandbox that is missing or not allowed says what to install or to allow. */
function ownFailure({ code, message, hint }: TooldexError): string {
  if (code === 'COMMAND_NOT_FOUND') return `failed: ${message}. ${withoutPeriod(hint)}`
  const needsOperator = code === 'SANDBOX_MISSING' || code === 'POLICY_REFUSED'
  return `failed: ${withoutPeriod(needsOperator ? `${message} ${hint}` : message)}`
}

/** A text of a server, cut to one short line. */
export function cut(text: string): string {
  const line = toOneLine(text.slice(0, maxCharacters * 2))
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line
}

/** Whether an error means that a credential is missing or was rejected. */
export function isDenied(error: unknown): boolean {
  const isMissing = (each: unknown) => each instanceof TooldexError && each.code === 'SECRET_UNAVAILABLE'
  const { status } = (error as { data?: { status?: number } }).data ?? {}
  return status === 401 || status === 403 || causesOfError(error).some(isMissing)
}

/** Whether an error means that the server is unreachable or failing, and not that it rejected the call. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof TooldexError) return error.code === 'OUTPUT_LIMIT'
  const { status } = (error as { data?: { status?: number } }).data ?? {}
  return error instanceof TypeError || (status !== undefined && status >= 500)
}

/** The error of a request that starts nothing. */
export const notRunning = (name: string): TooldexError =>
  new TooldexError('UNAVAILABLE', `The MCP server '${name}' is not running; a key with the scope call starts it.`)
