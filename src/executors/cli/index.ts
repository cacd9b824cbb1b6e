export { type CliExecutorOptions, createCliExecutor } from './cli-executor.ts'
export { type Containment, containmentOf, detectContainment } from './containment.ts'
export { findProgram } from './find-program.ts'
export { type CliLimits, defaultLimits } from './limits.ts'
