import { Option } from 'commander'
import { logLevels } from '../../../base/logger.ts'
import { type AddCommand, collect, parseCount, type ToolOptions, toOpenOptions, withLimitOptions } from './command.ts'

interface RunFlags extends ToolOptions {
  readonly classic?: boolean
  readonly pin?: string[]
  readonly watch?: boolean
  readonly server?: string
  readonly registry: boolean
  readonly toolset?: string
  readonly codeMode?: boolean
}

/** `tooldex run [CONFIG...]`: an MCP server on stdio. */
export const addRun: AddCommand = (program, host) => {
  const command = program
    .command('run')
    .argument('[config...]', 'names of bundled configs, or YAML files')
    .option('--server <url>', 'offer the tools of this server (default: TOOLDEX_URL, or the local server)')
    .option('--toolset <name>', 'offer only the tools of this toolset of the server or the local database')
    .option('--no-registry', 'offer the tools of the configs only')
    .option('--classic', 'list every tool directly instead of the three meta tools')
    .addOption(
      new Option('--pin <tool>', 'list this tool beside the three meta tools; may be repeated').argParser(collect),
    )
    .option('--code-mode', 'also list run_code, which runs programs that call the tools')
    .option('--policy <file>', 'policy file that restricts the calls')
    .option('--watch', 'reload configs when their files change')
    .option('--concurrency <n>', 'maximum number of concurrent commands', parseCount)
    .addOption(new Option('--transport <name>', 'how clients connect').choices(['stdio']).default('stdio').hideHelp())
    .addOption(
      new Option('--log-level <level>', 'minimum level of log lines on stderr').choices(logLevels).default('WARNING'),
    )
  withLimitOptions(command).action(async (configs: string[], flags: RunFlags) => {
    const { classic = false, pin: pinned = [], watch = false, server, registry, toolset, codeMode } = flags
    const options = { configs, classic, pinned, watch, server, registry, toolset, codeMode }
    await host.runStdio({ ...toOpenOptions(flags), ...options })
  })
}
