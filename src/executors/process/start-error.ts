import { type ErrorCode, TooldexError } from '../../base/errors.ts'

/** What the system said when a program could not be started, as a code of ours. */
export function toStartError(error: unknown, program: string): TooldexError {
  if (error instanceof TooldexError) return error
  const { code = 'unknown error' } = error as NodeJS.ErrnoException
  const [ours, message] = startErrors[code] ?? ['COMMAND_NOT_EXECUTABLE', `PROGRAM could not be started (${code}).`]
  return new TooldexError(ours, message.replace('PROGRAM', program), { cause: error })
}

const startErrors: Record<string, [ErrorCode, string]> = {
  ENOENT: ['COMMAND_NOT_FOUND', 'Command not found: PROGRAM'],
  EACCES: ['COMMAND_NOT_EXECUTABLE', 'PROGRAM may not be executed.'],
  EPERM: ['COMMAND_NOT_EXECUTABLE', 'PROGRAM may not be executed.'],
  ENOEXEC: ['COMMAND_NOT_EXECUTABLE', 'PROGRAM is not a program this machine can run.'],
  ENOTDIR: ['WORKING_DIR_INVALID', 'The working folder of PROGRAM is not a folder.'],
  E2BIG: ['ARGUMENTS_TOO_LONG', 'The arguments of PROGRAM are longer than the system allows.'],
  EMFILE: ['RESOURCES_EXHAUSTED', 'PROGRAM could not be started: too many files are open.'],
  ENFILE: ['RESOURCES_EXHAUSTED', 'PROGRAM could not be started: too many files are open.'],
  ENOMEM: ['RESOURCES_EXHAUSTED', 'PROGRAM could not be started: out of memory.'],
  EAGAIN: ['RESOURCES_EXHAUSTED', 'PROGRAM could not be started: too many processes.'],
}
