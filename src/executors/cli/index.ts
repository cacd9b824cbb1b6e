export { type CliExecutorOptions, createCliExecutor } from './cli-executor.ts'
export { containmentOf, detectContainment } from './containment.ts'
export { findProgram } from './find-program.ts'
