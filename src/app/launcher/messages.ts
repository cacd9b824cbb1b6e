import type { ErrorCode } from '../../base/errors.ts'
import type { FaultPoint } from '../../base/fault-points.ts'
import type { Problem } from '../../base/problem.ts'
import type { Job } from '../../contract/executor.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'
import type { RunOutcome } from '../../contract/run.ts'

/** The kinds of tools that are processes. */
export type LauncherKind = 'cli' | 'python' | 'shell'

/** What a hand is told when it starts: what an admin allows. */
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
  /** Whether fault points are to be told. */
  readonly points: boolean
}

/** What a server says to its hand. */
export type ToLauncher =
  | { readonly type: 'start'; readonly options: LauncherOptions }
  | {
      readonly type: 'run'
      readonly id: number
      readonly kind: LauncherKind
      readonly job: Job
      readonly where: ExecutorChoice | undefined
      readonly publishOutput: boolean
    }
  | { readonly type: 'cancel'; readonly id: number; readonly atOnce: boolean }
  | { readonly type: 'secret'; readonly ask: number; readonly value?: string; readonly error?: ErrorMessage }

/** What a hand says to its server. */
export type FromLauncher =
  | { readonly type: 'output'; readonly id: number; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly type: 'progress'; readonly id: number; readonly bytes: number }
  | { readonly type: 'secret'; readonly id: number; readonly ask: number; readonly reference: string }
  | { readonly type: 'point'; readonly point: FaultPoint }
  | { readonly type: 'end'; readonly id: number; readonly outcome?: RunOutcome; readonly error?: ErrorMessage }

/** An error as it goes from one process to the other. */
export type ErrorMessage =
  | {
      readonly code: ErrorCode
      readonly message: string
      readonly hint: string
      readonly problems: readonly Problem[]
    }
  | { readonly stack: string }
