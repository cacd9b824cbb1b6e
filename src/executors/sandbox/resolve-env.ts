import { TooldexError } from '../../base/errors.ts'
import type { RunControls } from '../../contract/executor.ts'

const reference = /^(?:secret|env|file):/

/** The variables of a run: with secret references resolved right before the start, and the trace context. */
export async function resolveEnv(
  env: Readonly<Record<string, string>>,
  { secret: resolve, traceparent }: RunControls,
): Promise<Record<string, string>> {
  const entries = Object.entries(env).map(async ([name, value]) => {
    if (!reference.test(value)) return [name, value] as const
    if (resolve !== undefined) return [name, await resolve(value)] as const
    throw new TooldexError(
      'SECRET_UNAVAILABLE',
      `The variable ${name} refers to a secret, but secrets are not available here.`,
      {
        hint: 'Call the tool through a server, or with a command that opens the database.',
      },
    )
  })
  const resolved = Object.fromEntries(await Promise.all(entries))
  return traceparent === undefined ? resolved : { ...resolved, TRACEPARENT: traceparent }
}
