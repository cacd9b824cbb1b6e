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
    .argument('[config...]', 'names of bundled configs, or YAML files, besides those in TOOLDEX_HOME/configs')
    .addOption(new Option('--host <address>', 'where to listen').default('127.0.0.1'))
    .addOption(
      new Option('--port <number>', 'the port, or the next free one')
        .argParser(parsePort)
        .env('TOOLDEX_PORT')
        .default(7331),
    )
    .option('--policy <file>', 'a policy file that says what may be called')
    .option('--bundled', 'serve every bundled config, too')
    .option('--examples', 'register a few example tools where there are none yet')
    .option('--no-worker', 'run no tool here; workers run all calls')
    .option('--label <label...>', 'take queued calls of tools that ask for this label, too')
    .addOption(new Option('--concurrency <number>', 'how many tools run at once').argParser(parseCount).default(16))
    .addOption(
      new Option('--waiting <number>', 'how many calls may wait for their turn here; more are refused')
        .argParser(parseCount)
        .default(256),
    )
    .addOption(
      new Option('--max-timeout <seconds>', 'the longest that any call may take').argParser(parseCount).default(3600),
    )
    .addOption(drainOption())
    .addOption(mcpServersOption())
    .addOption(new Option('--log-level <level>', 'what to report on stderr').choices(logLevels).default('WARNING'))
  withLimitOptions(command).action(async (configs: string[], flags: ServeCommandFlags) => {
    const { host: address, port, examples = false, worker, label: labels = [] } = flags
    const open = { ...toOpenOptions(flags), configs, bundled: flags.bundled, homeConfigs: true }
    const { maxTimeout = 3600, waiting, drain } = flags
    const limits = { waiting, maxMs: maxTimeout * 1000, drainMs: drain * 1000 }
    await host.serve({ ...open, ...limits, host: address, port, examples, worker, labels })
  })
}
