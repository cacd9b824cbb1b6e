export { createProgram, runCommandLine } from './create-program.ts'
export type {
  CliHost,
  OpenOptions,
  RunOptions,
  ServeFlags,
  WorkerFlags,
} from './host.ts'
