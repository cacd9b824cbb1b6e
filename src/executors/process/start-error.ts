import { type ErrorCode, TooldexError } from '../../base/errors.ts'

/** Maps a system error of a failed start to an error code. */
export function toStartError(error: unknown, program: string): TooldexError {
  if (error instanceof TooldexError) return error
  const { code = 'unknown error' } = error as NodeJS.ErrnoException
  const [errorCode, describe] = startErrors[code] ?? ['COMMAND_NOT_EXECUTABLE', notStarted(code)]
  return new TooldexError(errorCode, describe(program), { cause: error })
}

type Describe = (program: string) => string

const notStarted = (code: string): Describe => {
  return (program) => `${program} could not be started (${code}).`
}
const mayNotRun: Describe = (program) => `${program} is not executable for this user.`
const tooManyFiles: Describe = (program) => `${program} could not be started: too many files are open.`

const startErrors: Readonly<Record<string, readonly [ErrorCode, Describe]>> = {
  ENOENT: ['COMMAND_NOT_FOUND', (program) => `Command not found: ${program}`],
  EACCES: ['COMMAND_NOT_EXECUTABLE', mayNotRun],
  EPERM: ['COMMAND_NOT_EXECUTABLE', mayNotRun],
  ENOEXEC: ['COMMAND_NOT_EXECUTABLE', (program) => `${program} is not a program that this machine can run.`],
  ENOTDIR: ['WORKING_DIR_INVALID', (program) => `The working folder of ${program} is not a folder.`],
  E2BIG: ['ARGUMENTS_TOO_LONG', (program) => `The arguments of ${program} are longer than the system allows.`],
  EMFILE: ['RESOURCES_EXHAUSTED', tooManyFiles],
  ENFILE: ['RESOURCES_EXHAUSTED', tooManyFiles],
  ENOMEM: ['RESOURCES_EXHAUSTED', (program) => `${program} could not be started: out of memory.`],
  EAGAIN: ['RESOURCES_EXHAUSTED', (program) => `${program} could not be started: too many processes.`],
}
