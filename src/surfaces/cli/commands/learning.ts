import { invoke } from '../../../operations/invoke.ts'
import { manageLearning } from '../../../operations/manage-learning.ts'
import { formatTable } from '../format-table.ts'
import { type AddCommand, toJson } from './command.ts'

/** `tooldex learning`: what search learned from calls; `--reset` forgets it. */
export const addLearning: AddCommand = (program, host) => {
  program
    .command('learning')
    .description('what search learned from what was searched and called (TOOLDEX_LEARNING=off switches it off)')
    .option('--reset', 'forget it')
    .option('--json', 'print JSON for programs')
    .action(async (flags: { reset?: boolean; json?: boolean }) => {
      const answer = await invoke(manageLearning, { reset: flags.reset }, host.open({ configs: [] }))
      if (flags.json) return host.out(toJson(answer))
      if (answer.file === null) return host.out('Learning is switched off.\n')
      if (answer.forgotten) return host.out(`Forgotten: ${answer.file}\n`)
      if (answer.count === 0) return host.out(`Nothing was learned yet (${answer.file}).\n`)
      const rows = answer.latest.map(({ query, toolIds }) => [query, toolIds.join(', ')])
      host.out(
        `${answer.count} in ${answer.file}, the latest:\n${formatTable(['Query', 'Led to'], rows, host.columns)}\n`,
      )
    })
}
