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
    .addOption(
      new Option('--concurrency <number>', 'maximum number of concurrent calls').argParser(parseCount).default(8),
    )
    .option('--label <label...>', 'also take calls of tools with this label')
    .addOption(new Option('--port <number>', 'serve /healthz, /readyz and /metrics on this port').argParser(parsePort))
    .addOption(new Option('--host <address>', 'address to listen on for --port').default('127.0.0.1'))
    .addOption(drainOption())
    .addOption(mcpServersOption())
    .addOption(
      new Option('--log-level <level>', 'minimum level of log lines on stderr').choices(logLevels).default('WARNING'),
    )
  withLimitOptions(command).action(async (flags: WorkerCommandFlags) => {
    const { concurrency, label: labels = [], host: address, port, drain } = flags
    const open = { ...toOpenOptions(flags), configs: [], concurrency, labels }
    await host.work({ ...open, host: address, port, drainMs: drain * 1000 })
  })
}
