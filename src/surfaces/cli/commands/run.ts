import { Option } from 'commander'
import { logLevels } from '../../../base/logger.ts'
import type { AddCommand, ToolOptions } from './command.ts'
import { collect, parseCount, toOpenOptions, withLimitOptions } from './command.ts'

interface RunFlags extends ToolOptions {
  readonly classic?: boolean
  readonly pin?: string[]
  readonly watch?: boolean
  readonly server?: string
  readonly registry: boolean
}

/** `tooldex run [CONFIG...]`: an MCP server on stdio. */
export const addRun: AddCommand = (program, host) => {
  const command = program
    .command('run')
    .argument('[config...]', 'names of bundled configs, or YAML files, whose tools run here')
    .option('--server <url>', 'offer the tools of this server; TOOLDEX_URL or the one that runs here if left out')
    .option('--no-registry', 'offer the tools of the configs only')
    .option('--classic', 'list every tool itself instead of the three that find and call them')
    .addOption(new Option('--pin <tool>', 'list this tool too, beside the three').argParser(collect))
    .option('--policy <file>', 'a policy file that says what may be called')
    .option('--watch', 'take changes of the files over while running')
    .option('--concurrency <n>', 'how many commands may run at once', parseCount)
    .addOption(new Option('--transport <name>', 'how clients connect').choices(['stdio']).default('stdio').hideHelp())
    .addOption(new Option('--log-level <level>', 'what to report on stderr').choices(logLevels).default('WARNING'))
  withLimitOptions(command).action(async (configs: string[], flags: RunFlags) => {
    const { classic = false, pin: pinned = [], watch = false, server, registry } = flags
    await host.runStdio({ ...toOpenOptions(flags), configs, classic, pinned, watch, server, registry })
  })
}
