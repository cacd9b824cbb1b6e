import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'

/**
 * The file that a command word runs. Looked up before starting it, because the system answers a missing program, a missing
 * interpreter and a missing folder alike, and hands a file it cannot read to a shell.
 */
export function findProgram(word: string, env: Environment, cwd: string): string {
  if (word === '') throw new TooldexError('COMMAND_NOT_FOUND', 'The command is empty.')
  const candidates = word.includes('/')
    ? [resolve(cwd, word)]
    : (env.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter).map((dir) => join(resolve(cwd, dir), word))
  const files = candidates.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false)
  const program = files.find(isExecutable)
  if (program !== undefined) return requireReadable(program, word)
  if (files.length > 0) throw new TooldexError('COMMAND_NOT_EXECUTABLE', `${word} is a file that may not be executed.`)
  throw new TooldexError('COMMAND_NOT_FOUND', `Command not found: ${word}`)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const binaryMagics = ['7f454c46', 'cffaedfe', 'cefaedfe', 'feedface', 'feedfacf', 'cafebabe']

function requireReadable(program: string, word: string): string {
  const head = readHead(program)
  if (head === undefined || binaryMagics.includes(head.subarray(0, 4).toString('hex'))) return program
  const line = /^#!\s*(\S+)/.exec(head.toString('latin1'))
  if (line === null) throw new TooldexError('COMMAND_NOT_EXECUTABLE', `${word} is neither a program nor a script with a #! line.`)
  const interpreter = line[1] as string
  if (isExecutable(interpreter)) return program
  throw new TooldexError('COMMAND_NOT_EXECUTABLE', `${word} wants the interpreter ${interpreter}, which is not there.`, {
    hint: 'Install the interpreter, or mend the first line of the script.',
  })
}

/** The first bytes of a file; undefined for one that may be executed but not read. */
function readHead(path: string): Buffer | undefined {
  try {
    const descriptor = openSync(path, 'r')
    const head = Buffer.alloc(256)
    const size = readSync(descriptor, head)
    closeSync(descriptor)
    return head.subarray(0, size)
  } catch {
    return undefined
  }
}
