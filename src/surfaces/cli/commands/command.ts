import { type Command, InvalidArgumentError, Option } from 'commander'
import { type LogLevel, logLevels } from '../../../base/logger.ts'
import { ReadinessState, ToolSource, ToolStatus } from '../../../contract/tool-state.ts'
import type { CliHost, OpenOptions } from '../host.ts'

/** Adds one command to the program; returns the exit code through the host when it is not zero. */
export type AddCommand = (program: Command, host: CliHost, exit: (code: number) => void) => void

/** The options of every command that works on tools. */
export interface ToolOptions {
  readonly config?: string[]
  readonly policy?: string
  readonly logLevel?: LogLevel
  readonly maxOutput?: number
  readonly maxFile?: number
  readonly concurrency?: number
  readonly containment?: 'pid-namespace' | 'process-group'
  readonly mcpServers?: string
  readonly allowLimited?: boolean
  readonly limited?: string[]
  readonly allowNetwork?: boolean
  readonly allowFolder?: string[]
  readonly grant?: string[]
  readonly json?: boolean
}

/** The file of MCP servers, of commands that run their tools. */
export const mcpServersOption = (): Option =>
  new Option(
    '--mcp-servers <file>',
    'the MCP servers that tools may name, instead of servers.json in TOOLDEX_HOME',
  ).env('TOOLDEX_MCP_SERVERS')

/** Which configs to load, under which policy. */
export function withToolOptions(command: Command): Command {
  return command
    .addOption(
      new Option('-c, --config <name|file>', 'a config to load; all named ones if left out').argParser(collect),
    )
    .option('--policy <file>', 'a policy file that says what may be called')
    .addOption(new Option('--log-level <level>', 'what to report on stderr').choices(logLevels).default('WARNING'))
    .option('--json', 'print JSON for programs')
}

/** What a command that shows tools may leave out. */
export interface StateFlags {
  readonly source?: string[]
  readonly status?: string[]
  readonly readiness?: string[]
}

/** Filters by where tools come from, where they are in their life, and whether they can be called now. */
export function withStateFilters(command: Command): Command {
  const several = (flag: string, text: string, values: readonly string[]) =>
    new Option(flag, `${text} (${values.join(', ')})`).argParser(collect)
  return command
    .addOption(several('--source <kind>', 'only tools that come from here', ToolSource.options))
    .addOption(several('--status <status>', 'only tools of this status, ACTIVE if left out', ToolStatus.options))
    .addOption(several('--readiness <state>', 'only tools in this state', ReadinessState.options))
}

/** How long a process that is stopped waits for its runs. */
export const drainOption = (): Option =>
  new Option(
    '--drain <seconds>',
    'wait this long for runs to end when stopped; idempotent runs then go back to the queue',
  )
    .argParser(parseLimit)
    .default(25)

/** The bounds of running commands. */
export function withLimitOptions(command: Command): Command {
  return command
    .option('--max-output <bytes>', 'keep this much of each output stream', parseSize)
    .option('--max-file <bytes>', 'the largest file a command may write', parseSize)
    .addOption(
      new Option(
        '--containment <kind>',
        'what keeps the processes of a call together, if not the best there is',
      ).choices(['pid-namespace', 'process-group']),
    )
}

/** What an admin allows to tools that are processes. */
export function withSandboxOptions(command: Command): Command {
  return command
    .option(
      '--allow-limited',
      'run tools that ask for it with limits only, without a sandbox (or TOOLDEX_ALLOW_LIMITED=1)',
    )
    .addOption(
      new Option(
        '--limited <config>',
        'run the tools of this config with limits only, without a sandbox; * for all (or TOOLDEX_LIMITED)',
      ).argParser(collect),
    )
    .option('--allow-network', 'let tools that ask use the network (or TOOLDEX_ALLOW_NETWORK=1)')
    .addOption(
      new Option(
        '--allow-folder <path[:ro|:rw]>',
        'let tools in a sandbox read this folder, or with :rw change it (or TOOLDEX_ALLOW_FOLDERS)',
      ).argParser(collect),
    )
    .addOption(
      new Option(
        '--grant <workspace=grant,...>',
        'grant a workspace parts of this host: host, folders, network, env, files, private, mcp, packages, all (or TOOLDEX_GRANTS)',
      ).argParser(collect),
    )
}

/** The options of a command as what has to be opened. */
export function toOpenOptions(options: ToolOptions): OpenOptions {
  const { config: configs, policy, logLevel, maxOutput, maxFile, concurrency, containment, mcpServers } = options
  const { allowLimited, limited, allowNetwork, allowFolder: allowFolders, grant: grants } = options
  const allowed = { allowLimited, limited, allowNetwork, allowFolders, grants }
  return { configs, policy, logLevel, maxOutput, maxFile, concurrency, containment, mcpServers, ...allowed }
}

/** Collects a repeated option. */
export const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value]

/** A number of bytes: `1048576`, `64KiB`, `10M`. */
export function parseSize(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)\s*([kmg]?)(?:i?b)?$/i.exec(text) ?? []
  if (digits === '') throw new InvalidArgumentError('Write a number of bytes, such as 1048576, 64KiB or 10M.')
  return Number(digits) * 1024 ** ' kmg'.indexOf(unit.toLowerCase() || ' ')
}

/** A whole number of at least one. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Write a whole number of at least 1.')
  return Number(text)
}

/** A whole number, zero included. */
export function parseLimit(text: string): number {
  if (!/^(?:0|[1-9]\d{0,5})$/.test(text)) throw new InvalidArgumentError('Write a whole number of at least 0.')
  return Number(text)
}

/** JSON as programs like to read it. */
export const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

export function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('Write a number from 0 to 65535.')
  return port
}
