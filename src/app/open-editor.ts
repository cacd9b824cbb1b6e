import { spawn } from 'node:child_process'
import { TooldexError } from '../base/errors.ts'
import { findOpenQuote, splitWords } from '../base/split-words.ts'

const usual = ['nano', 'vi']
const hint = 'Set EDITOR to the command of your editor, such as "code --wait", or name a file with the changes.'

/** Lets a person edit a file in their own editor, until they close it. */
export async function openEditor(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const chosen = env.VISUAL || env.EDITOR
  for (const line of chosen ? [chosen] : usual) {
    const end = await runEditor(readWords(line), file)
    if (end === 0) return
    if (end === 'missing') continue
    throw new TooldexError('USAGE', `The editor (${line}) ended with ${end}; nothing was changed.`, { hint })
  }
  throw new TooldexError('USAGE', chosen ? `There is no editor '${chosen}'.` : 'No editor was found.', { hint })
}

function readWords(line: string): readonly string[] {
  const quote = findOpenQuote(line)
  if (quote === undefined) return splitWords(line)
  throw new TooldexError('USAGE', `EDITOR is not a valid command line: a ${quote} is never closed.`, { hint })
}

const runEditor = ([program = '', ...words]: readonly string[], file: string): Promise<number | string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, [...words, file], { stdio: 'inherit' })
    child.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? resolve('missing') : reject(error)))
    child.on('close', (code, signal) => resolve(code ?? signal ?? 1))
  })
