import type * as z from 'zod'
import { invoke } from '../../../operations/invoke.ts'
import { forgetLearning, showLearning } from '../../../operations/learning/manage-learning.ts'
import type { Operation } from '../../../operations/operation.ts'
import { formatTable } from '../format-table.ts'
import type { CliHost } from '../host.ts'
import { type AddCommand, toJson } from './command.ts'
import { withRegistry } from './registry-command.ts'

interface LearningFlags {
  readonly reset?: boolean
  readonly registry?: boolean
  readonly server?: string
  readonly json?: boolean
}

/** `tooldex learning`: what search learned from calls; `--reset` forgets it. */
export const addLearning: AddCommand = (program, host) => {
  const command = program
    .command('learning')
    .description('what search learned from what was searched and called (TOOLDEX_LEARNING=off switches it off)')
    .option('--reset', 'forget it')
    .option('--registry', 'of the registry: at the server that runs here, or in the database itself')
    .option('--json', 'print JSON for programs')
  command.option('--server <url>', 'ask this server').action(async (flags: LearningFlags) => {
    if (flags.reset) {
      const answer = await askWhere(host, flags, forgetLearning)
      return host.out(flags.json ? toJson(answer) : forgottenText(answer))
    }
    const answer = await askWhere(host, flags, showLearning)
    host.out(flags.json ? toJson(answer) : shownText(answer, host.columns))
  })
}

/** Without a server or the registry it is about the file of those who have no database. */
const askWhere = <Input extends z.ZodType, Output extends z.ZodType>(
  host: CliHost,
  flags: LearningFlags,
  operation: Operation<Input, Output>,
): Promise<z.output<Output>> =>
  flags.registry === true || flags.server !== undefined
    ? withRegistry(host, flags, (registry) => registry.invoke(operation, {}))
    : invoke(operation, {}, host.open({ configs: [] }))

const off = 'Learning is switched off.\n'

const forgottenText = ({ keptIn, forgotten }: Awaited<ReturnType<typeof forgetLearning.handle>>): string => {
  if (keptIn === null) return off
  return forgotten === 0 ? `Nothing was learned yet (${keptIn}).\n` : `Forgotten: ${forgotten} in ${keptIn}\n`
}

function shownText(
  { keptIn, count, latest }: Awaited<ReturnType<typeof showLearning.handle>>,
  columns: number,
): string {
  if (keptIn === null) return off
  if (count === 0) return `Nothing was learned yet (${keptIn}).\n`
  const rows = latest.map(({ query, toolIds }) => [query, toolIds.join(', ')])
  return `${count} in ${keptIn}, the latest:\n${formatTable(['Query', 'Led to'], rows, columns)}\n`
}
