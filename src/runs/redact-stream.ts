import type { RunControls } from '../contract/executor.ts'
import type { Redactor } from '../contract/secret.ts'

type OnOutput = NonNullable<RunControls['onOutput']>

/** Passes the output of a tool on without secrets; text that may be the beginning of one is held back until more arrives. */
export function redactStream(onOutput: OnOutput, redact: Redactor): { readonly take: OnOutput; end(): void } {
  const pending = { stdout: '', stderr: '' }
  return {
    take(stream, text) {
      const all = pending[stream] + text
      const complete = all.length - redact.unfinished(all)
      pending[stream] = all.slice(complete)
      if (complete > 0) onOutput(stream, redact(all.slice(0, complete)))
    },
    end() {
      for (const stream of ['stdout', 'stderr'] as const)
        if (pending[stream] !== '') onOutput(stream, redact(pending[stream]))
    },
  }
}
