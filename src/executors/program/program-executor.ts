import { createHash } from 'node:crypto'
import { lazyModule } from '../../base/lazy-module.ts'
import { canStartThreads } from '../../base/worker-thread.ts'
import { ready } from '../../contract/catalog.ts'
import type { Executor, Job } from '../../contract/executor.ts'
import { programLimits } from './program-limits.ts'

const loadRun = lazyModule(() => import('./run-program.ts'))

/** Runs programs of code mode: their only way out is the calls that the runner answers. */
export function createProgramExecutor(): Executor {
  return {
    kind: 'program',
    readiness: () => ready,
    prepare(job) {
      const code = String(job.input.code)
      const timeoutMs = deadlineOf(job)
      return {
        // A program has no values that a policy bounds; its calls have.
        bound: [],
        deadlineMs: timeoutMs,
        plan: async () => ({ kind: 'program', isolation: 'none', timeoutMs, program: about(code), limits }),
        async run(controls) {
          const { runProgram } = await loadRun()
          return runProgram({ code, timeoutMs, inThread: canStartThreads }, controls)
        },
      }
    },
  }
}

/** The deadline that the caller or the program itself requests, within the limits. */
function deadlineOf({ input, timeoutMs, maxMs = programLimits.maxMs }: Job): number {
  const own = typeof input.timeoutMs === 'number' ? input.timeoutMs : programLimits.defaultMs
  return Math.min(timeoutMs ?? own, maxMs, programLimits.maxMs)
}

const about = (code: string) => ({
  sha256: createHash('sha256').update(code).digest('hex'),
  bytes: Buffer.byteLength(code),
})

const { memoryBytes, stackBytes, calls, concurrentCalls, result, console } = programLimits
const limits = { memoryBytes, stackBytes, calls, concurrentCalls, result, console }
