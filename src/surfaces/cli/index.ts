export { createProgram, runCommandLine } from './create-program.ts'
export type {
  CliHost,
  OpenOptions,
  RunOptions,
  ServeFlags,
  ServerAddress,
  WorkerFlags,
} from './host.ts'
