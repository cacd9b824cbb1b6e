import { Option } from 'commander'
import { logLevels } from '../../../base/logger.ts'
import {
  type AddCommand,
  drainOption,
  mcpServersOption,
  parseCount,
  parsePort,
  type ToolOptions,
  toOpenOptions,
  withLimitOptions,
  withSandboxOptions,
} from './command.ts'

interface WorkerCommandFlags extends ToolOptions {
  readonly concurrency: number
  readonly label?: readonly string[]
  readonly host: string
  readonly port?: number
  readonly drain: number
}

/** `tooldex worker`: runs queued calls of the servers that share its database. */
export const addWorker: AddCommand = (program, host) => {
  const command = withSandboxOptions(program.command('worker'))
    .addOption(new Option('--concurrency <number>', 'how many at once').argParser(parseCount).default(8))
    .option('--label <label...>', 'take calls of tools that ask for this label, too')
    .addOption(new Option('--port <number>', 'answer /healthz, /readyz and /metrics here').argParser(parsePort))
    .addOption(new Option('--host <address>', 'where to listen for that').default('127.0.0.1'))
    .addOption(drainOption())
    .addOption(mcpServersOption())
    .addOption(new Option('--log-level <level>', 'what to report on stderr').choices(logLevels).default('WARNING'))
  withLimitOptions(command).action(async (flags: WorkerCommandFlags) => {
    const { concurrency, label: labels = [], host: address, port, drain } = flags
    const open = { ...toOpenOptions(flags), configs: [], concurrency, labels }
    await host.work({ ...open, host: address, port, drainMs: drain * 1000 })
  })
}
