import { packageVersion } from '../base/package-info.ts'
import { type Tracing, untraced } from '../contract/tracing.ts'

/** Where whatever records spans makes itself known, in any copy of the API. */
const registered = Symbol.for('opentelemetry.js.api.1')

/** Spans are recorded where the process was started with something that records them: `node --import`; otherwise nothing is loaded. */
export function openTracing(): Tracing {
  if (!(registered in globalThis)) return untraced
  let tracing: Promise<Tracing> | undefined
  const load = async () => (await import('../telemetry/index.ts')).createTracing(packageVersion())
  return {
    async inSpan(name, options, work) {
      tracing ??= load()
      return (await tracing).inSpan(name, options, work)
    },
  }
}
