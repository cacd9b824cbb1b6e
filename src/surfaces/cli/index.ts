export { createProgram, runCommandLine } from './create-program.ts'
export type {
  CallControls,
  CliHost,
  OpenOptions,
  RecordedCall,
  RegistryClient,
  RunOptions,
  ServeFlags,
  ServerAddress,
  WorkerFlags,
} from './host.ts'
export { openRemote } from './remote.ts'
