import { lazyModule } from '../base/lazy-module.ts'
import { packageVersion } from '../base/package-info.ts'
import { type Tracing, untraced } from '../contract/telemetry.ts'

/** The key under which an OpenTelemetry SDK registers, in any copy of the API. */
const registered = Symbol.for('opentelemetry.js.api.1')

/** Records spans if an OpenTelemetry SDK was loaded with `node --import`; otherwise nothing is loaded. */
export function openTracing(): Tracing {
  if (!(registered in globalThis)) return untraced
  const load = lazyModule(async () => (await import('../telemetry/index.ts')).createTracing(packageVersion()))
  return {
    async inSpan(name, options, work) {
      return (await load()).inSpan(name, options, work)
    },
  }
}
