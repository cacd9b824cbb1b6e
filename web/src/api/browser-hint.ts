import type { TooldexError } from 'tooldex/client'

/** The next steps in a browser for errors whose hints are for agents and terminals. */
const hints: Readonly<Record<string, string>> = {
  TOOL_NOT_FOUND: 'Look for it in the catalog: it may have been renamed, deactivated or deleted.',
  UNAUTHORIZED: 'Sign in again.',
  CONFIG_INVALID: 'Fix the listed problems.',
  SANDBOX_FAILED: 'Ask the operator of this server to check the machine.',
}

/** The hint of an error for a person in a browser. */
export function browserHint(error: TooldexError): string | undefined {
  // The cause is that of a request without a response.
  if (error.code === 'UNAVAILABLE' && error.cause !== undefined)
    return 'It may be restarting: this page tries again. If it stays away, ask its operator.'
  return hints[error.code] ?? error.hint
}
