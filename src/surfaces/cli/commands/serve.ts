import { Option } from 'commander'
import { logLevels } from '../../../base/logger.ts'
import { readSetting } from '../../../rules/settings.ts'
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

interface ServeCommandFlags extends ToolOptions {
  readonly host: string
  readonly port: number
  readonly examples?: boolean
  readonly bundled?: boolean
  readonly worker: boolean
  readonly label?: readonly string[]
  readonly maxTimeout?: number
  readonly waiting?: number
  readonly drain: number
}

/** `tooldex serve [CONFIG...]`: the registry and the tools of configs over HTTP. */
export const addServe: AddCommand = (program, host) => {
  const command = withSandboxOptions(program.command('serve'))
    .argument('[config...]', 'names of bundled configs, or YAML files, in addition to TOOLDEX_HOME/configs')
    .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
    .addOption(
      new Option('--port <number>', 'port to listen on; the next free one if it is taken')
        .argParser(parsePort)
        .env('TOOLDEX_PORT')
        .default(readSetting('TOOLDEX_PORT', {})),
    )
    .option('--policy <file>', 'policy file that restricts the calls')
    .option('--bundled', 'also serve every bundled config')
    .option('--examples', 'register example tools if the registry is empty')
    .option('--no-worker', 'run no tools in this process; workers run all calls')
    .option('--label <label...>', 'also take queued calls of tools with this label')
    .addOption(
      new Option(
        '--concurrency <number>',
        'maximum number of concurrent processes; four times as many calls of remote tools',
      )
        .argParser(parseCount)
        .default(16),
    )
    .addOption(
      new Option('--waiting <number>', 'maximum number of waiting calls; further calls are rejected')
        .argParser(parseCount)
        .default(256),
    )
    .addOption(new Option('--max-timeout <seconds>', 'maximum duration of a call').argParser(parseCount).default(3600))
    .addOption(drainOption())
    .addOption(mcpServersOption())
    .addOption(
      new Option('--log-level <level>', 'minimum level of log lines on stderr').choices(logLevels).default('WARNING'),
    )
  withLimitOptions(command).action(async (configs: string[], flags: ServeCommandFlags) => {
    const { host: address, port, examples = false, worker, label: labels = [] } = flags
    const open = { ...toOpenOptions(flags), configs, bundled: flags.bundled, homeConfigs: true }
    const { maxTimeout = 3600, waiting, drain } = flags
    const limits = { waiting, maxMs: maxTimeout * 1000, drainMs: drain * 1000 }
    await host.serve({ ...open, ...limits, host: address, port, examples, worker, labels })
  })
}

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
      new Option(
        '--concurrency <number>',
        'maximum number of concurrent processes; four times as many calls of remote tools',
      )
        .argParser(parseCount)
        .default(8),
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
