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

/** `tooldex learning`: shows the queries learned from calls; `--reset` deletes them. */
export const addLearning: AddCommand = (program, host) => {
  const command = program
    .command('learning')
    .option('--reset', 'delete all learned queries')
    .option('--registry', 'use the registry: of the local server, or in the database itself')
    .option('--json', 'print JSON')
  command.option('--server <url>', 'use the registry of this server').action(async (flags: LearningFlags) => {
    if (flags.reset) {
      const answer = await invokeOnLearned(host, flags, forgetLearning)
      return host.out(flags.json ? toJson(answer) : resetText(answer))
    }
    const answer = await invokeOnLearned(host, flags, showLearning)
    host.out(flags.json ? toJson(answer) : learningText(answer, host.columns))
  })
}

/** Without --server and --registry, the operation works on the local file of learned queries. */
async function invokeOnLearned<Input extends z.ZodType, Output extends z.ZodType>(
  host: CliHost,
  flags: LearningFlags,
  operation: Operation<Input, Output>,
): Promise<z.output<Output>> {
  if (flags.registry === true || flags.server !== undefined)
    return withRegistry(host, flags, (registry) => registry.invoke(operation, {}))
  return invoke(operation, {}, await host.open({ configs: [] }))
}

const off = 'Learning is turned off.\n'

const resetText = ({ keptIn, forgotten }: Awaited<ReturnType<typeof forgetLearning.handle>>): string => {
  if (keptIn === null) return off
  return forgotten === 0
    ? `No queries learned yet (${keptIn}).\n`
    : `Learned queries deleted from ${keptIn}: ${forgotten}\n`
}

function learningText(
  { keptIn, count, latest }: Awaited<ReturnType<typeof showLearning.handle>>,
  columns: number,
): string {
  if (keptIn === null) return off
  if (count === 0) return `No queries learned yet (${keptIn}).\n`
  const rows = latest.map(({ query, toolIds }) => [query, toolIds.join(', ')])
  return `Learned queries in ${keptIn}: ${count}; the latest:\n${formatTable(['Query', 'Called tools'], rows, columns)}\n`
}
