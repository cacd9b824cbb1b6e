import colors from 'picocolors'
import { invoke } from '../../../operations/invoke.ts'
import { runDoctor } from '../../../operations/server/run-doctor.ts'
import { type AddCommand, toJson } from './command.ts'

/** `tooldex doctor`: checks the installation and prints hints for problems. */
export const addDoctor: AddCommand = (program, host, exit) => {
  program
    .command('doctor')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => {
      const answer = await invoke(runDoctor, {}, await host.open({ configs: [] }))
      const marks = { ok: colors.green('✓'), warning: colors.yellow('!'), error: colors.red('✗') }
      const lines = answer.checks.map(({ name, state, message, hint }) => {
        return `${marks[state]} ${name.padEnd(22)} ${message}${hint === undefined ? '' : `\n  ${''.padEnd(22)} ${hint}`}`
      })
      host.out(flags.json ? toJson(answer) : `${lines.join('\n')}\n`)
      if (!answer.ok) exit(1)
    })
}
