export { createTracing } from './create-tracing.ts'
export { ProcessMetrics } from './process-metrics.ts'
