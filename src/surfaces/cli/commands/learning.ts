import type * as z from 'zod'
import { invoke } from '../../../operations/invoke.ts'
import { forgetLearning, showLearning } from '../../../operations/learning/manage-learning.ts'
import type { Operation } from '../../../operations/operation.ts'
import { formatTable } from '../format-table.ts'
import type { CliHost } from '../host.ts'
import { type AddCommand, toJson } from './command.ts'
import { withRegistry } from './registry/registry-command.ts'

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

/** Without --server and --registry, the file that stands in for a database. */
async function askWhere<Input extends z.ZodType, Output extends z.ZodType>(
  host: CliHost,
  flags: LearningFlags,
  operation: Operation<Input, Output>,
): Promise<z.output<Output>> {
  if (flags.registry === true || flags.server !== undefined)
    return withRegistry(host, flags, (registry) => registry.invoke(operation, {}))
  return invoke(operation, {}, await host.open({ configs: [] }))
}

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
