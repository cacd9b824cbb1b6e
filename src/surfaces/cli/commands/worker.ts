import { Option } from 'commander'
import { logLevels } from '../../../base/logger.ts'
import {
  type AddCommand,
  mcpServersOption,
  parseCount,
  type ToolOptions,
  toOpenOptions,
  withSandboxOptions,
} from './command.ts'

interface WorkerCommandFlags extends ToolOptions {
  readonly concurrency: number
  readonly label?: readonly string[]
}

/** `tooldex worker`: runs queued calls of the servers that share its database. */
export const addWorker: AddCommand = (program, host) => {
  withSandboxOptions(program.command('worker'))
    .description('run queued calls of the servers that share the database in DATABASE_URL')
    .addOption(new Option('--concurrency <number>', 'how many at once').argParser(parseCount).default(8))
    .option('--label <label...>', 'take calls of tools that ask for this label, too')
    .addOption(mcpServersOption())
    .addOption(new Option('--log-level <level>', 'what to report on stderr').choices(logLevels).default('WARNING'))
    .action(async (flags: WorkerCommandFlags) => {
      const { concurrency, label = [] } = flags
      await host.work({ ...toOpenOptions(flags), configs: [], concurrency, labels: label })
    })
}
