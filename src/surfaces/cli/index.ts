export { createProgram, runCommandLine } from './create-program.ts'
export type {
  CliHost,
  OpenOptions,
  RegistryClient,
  RunOptions,
  ServeFlags,
  ServerAddress,
  WorkerFlags,
} from './host.ts'
export { invokeRemote } from './remote.ts'
