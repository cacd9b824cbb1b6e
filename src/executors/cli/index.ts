export { detectContainment } from '../process/containment.ts'
export { findProgram } from '../process/find-program.ts'
export { type CliExecutorOptions, createCliExecutor } from './cli-executor.ts'
