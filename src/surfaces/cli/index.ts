export { createProgram, runCommandLine } from './create-program.ts'
export type { CliHost, OpenOptions, RunOptions } from './host.ts'
