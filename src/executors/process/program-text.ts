import { readFileSync } from 'node:fs'
import { toStartError } from './start-error.ts'

/**
 * The text of a program in another language, from the file beside a module; read with its first use. Programs are passed to
 * their interpreter as text: the user of a sandbox need not be able to read the folder of this package.
 */
export function programText(name: string, module: string): () => string {
  let text: string | undefined
  return () => {
    text ??= read(new URL(name, module), name)
    return text
  }
}

function read(file: URL, name: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw toStartError(error, name)
  }
}
