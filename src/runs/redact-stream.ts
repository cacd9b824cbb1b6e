import type { RunControls } from '../contract/executor.ts'
import type { Redactor } from '../contract/secret.ts'

type OnOutput = NonNullable<RunControls['onOutput']>

/** Passes on what a tool prints without its secrets; text that may be the beginning of one waits for what follows. */
export function redactStream(onOutput: OnOutput, redact: Redactor): { readonly take: OnOutput; end(): void } {
  const held = { stdout: '', stderr: '' }
  return {
    take(stream, text) {
      const all = held[stream] + text
      const known = all.length - redact.unfinished(all)
      held[stream] = all.slice(known)
      if (known > 0) onOutput(stream, redact(all.slice(0, known)))
    },
    end() {
      for (const stream of ['stdout', 'stderr'] as const)
        if (held[stream] !== '') onOutput(stream, redact(held[stream]))
    },
  }
}
