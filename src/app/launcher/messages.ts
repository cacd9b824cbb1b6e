import { type ErrorCode, TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import type { Job } from '../../contract/executor.ts'
import type { ExecutorKindName } from '../../contract/executor-kinds.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'
import type { RunOutcome } from '../../contract/run.ts'
import type { FaultPoint } from '../../rules/fault-points.ts'

/** The start options of a launcher: the permissions of tools. */
export interface LauncherOptions {
  readonly maxOutput?: number | undefined
  readonly maxFile?: number | undefined
  readonly containment?: 'pid-namespace' | 'process-group' | undefined
  readonly allowLimited?: boolean | undefined
  readonly limited?: readonly string[] | undefined
  readonly allowNetwork?: boolean | undefined
  readonly allowFolders?: readonly string[] | undefined
  readonly hide?: boolean | undefined
  readonly warm?: number | undefined
  /** Whether fault points are reported. */
  readonly points: boolean
}

/** Messages from a server to its launcher. */
export type ToLauncher =
  | { readonly type: 'start'; readonly options: LauncherOptions }
  | {
      readonly type: 'run'
      readonly id: number
      readonly kind: ExecutorKindName
      readonly job: Job
      readonly traceparent: string | undefined
      readonly where: ExecutorChoice | undefined
      readonly publishOutput: boolean
    }
  | { readonly type: 'cancel'; readonly id: number; readonly atOnce: boolean }
  | { readonly type: 'secret'; readonly requestId: number; readonly value?: string; readonly error?: ErrorMessage }

/** Messages from a launcher to its server. */
export type FromLauncher =
  | { readonly type: 'output'; readonly id: number; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly type: 'progress'; readonly id: number; readonly bytes: number }
  | { readonly type: 'secret'; readonly id: number; readonly requestId: number; readonly reference: string }
  | { readonly type: 'point'; readonly point: FaultPoint }
  | {
      readonly type: 'end'
      readonly id: number
      readonly outcome?: RunOutcome
      /** The output of the outcome where it is a `JsonText`: messages do not preserve classes. */
      readonly outputJson?: string
      readonly error?: ErrorMessage
    }

/** A serialized error. */
type ErrorMessage =
  | {
      readonly code: ErrorCode
      readonly message: string
      readonly hint: string
      readonly problems: readonly Problem[]
    }
  | { readonly stack: string }

/** Serializes an error; an unexpected error keeps its stack for the log. */
export function serializeError(thrown: unknown): ErrorMessage {
  if (!(thrown instanceof TooldexError)) return { stack: String((thrown as Error | undefined)?.stack ?? thrown) }
  const { code, message, hint, problems } = thrown
  return { code, message, hint, problems }
}

/** Restores a serialized error. */
export function restoreError(error: ErrorMessage): Error {
  if ('stack' in error) return Object.assign(new Error('a launcher process failed'), error)
  const { code, message, hint, problems } = error
  return new TooldexError(code, message, { hint, problems })
}
