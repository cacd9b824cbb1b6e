import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { Job, RunControls } from '../../contract/executor.ts'
import { LimitsConfig } from './sandbox-limits.ts'

/** The isolation settings of every tool that runs as a process. */
export const isolationFields = {
  /**
   * `isolated` or `confined`; or `limited`, which is not a sandbox and which the operator must allow. The best available
   * level where absent.
   */
  isolation: z.enum(['isolated', 'confined', 'limited']).optional(),
  limits: LimitsConfig.optional(),
  /** Whether the tool needs network access, which the operator must allow. */
  network: z.boolean().optional(),
}

const noNul = /^[^\0]*$/
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a valid variable name')

/** Variables that a tool sets; `secret:NAME`, `env:NAME` and `file:PATH` are resolved when it runs. */
export const EnvConfig = z.record(variableName, z.string().regex(noNul, 'must not contain a NUL byte'))

const reference = /^(?:secret|env|file):/

/** The variables of a run: with secret references resolved right before the start, and the trace context. */
export async function resolveSandboxEnv(
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

/** The isolation levels of a process, the best first. */
export type Level = 'isolated' | 'confined' | 'limited'

/** The level of a job: a workspace without the grant `host` always runs isolated. */
export const levelOf = ({ grants }: Job, requested: Level | undefined): Level | undefined =>
  grants === undefined || grants.includes('host') ? requested : 'isolated'
