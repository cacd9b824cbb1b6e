import { spawn } from 'node:child_process'
import { TooldexError } from '../../base/errors.ts'
import { findOpenQuote, splitWords } from '../../base/split-words.ts'

const defaultEditors = ['nano', 'vi']
const hint = 'Set EDITOR to the command of your editor, such as "code --wait", or name a file with the changes.'
const noTerminalHint =
  'Name a file with the changed fields (tooldex tools edit TOOL FILE, - for standard input), or use --set field=value.'

/** Opens a file in the editor of the user and waits until it is closed. */
export async function openEditor(file: string, env: NodeJS.ProcessEnv, interactive: boolean): Promise<void> {
  const configured = env.VISUAL || env.EDITOR
  if (!configured && !interactive)
    throw new TooldexError('USAGE', 'There is no terminal for an editor.', { hint: noTerminalHint })
  for (const line of configured ? [configured] : defaultEditors) {
    const end = await runEditor(splitCommand(line), file)
    if (end === 0) return
    if (end === 'missing') continue
    throw new TooldexError('USAGE', `The editor (${line}) exited with ${end}; nothing was changed.`, { hint })
  }
  throw new TooldexError('USAGE', configured ? `The editor '${configured}' was not found.` : 'No editor was found.', {
    hint,
  })
}

function splitCommand(line: string): readonly string[] {
  const quote = findOpenQuote(line)
  if (quote === undefined) return splitWords(line)
  throw new TooldexError('USAGE', `EDITOR is not a valid command line: a ${quote} is never closed.`, { hint })
}

const runEditor = ([program = '', ...args]: readonly string[], file: string): Promise<number | string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, [...args, file], { stdio: 'inherit' })
    child.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? resolve('missing') : reject(error)))
    child.on('close', (code, signal) => resolve(code ?? signal ?? 1))
  })
