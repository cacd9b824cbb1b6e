import { type Command, InvalidArgumentError, Option } from 'commander'
import { type LogLevel, logLevels } from '../../../base/logger.ts'
import { ReadinessState, ToolSource, ToolStatus } from '../../../contract/catalog.ts'
import { ExecutorKindName } from '../../../contract/executor-kinds.ts'
import type { CliHost, OpenOptions } from '../host.ts'

/** Adds one command to the program; `exit` sets an exit code other than zero. */
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

/** The option for the MCP servers file, for commands that run their tools. */
export const mcpServersOption = (): Option =>
  new Option('--mcp-servers <file>', 'file of MCP servers for tools, instead of servers.json in TOOLDEX_HOME').env(
    'TOOLDEX_MCP_SERVERS',
  )

/** Adds the options for configs, policy, log level and JSON. */
export function withToolOptions(command: Command): Command {
  return command
    .addOption(new Option('-c, --config <name|file>', 'config to load (default: all named configs)').argParser(collect))
    .option('--policy <file>', 'policy file that restricts the calls')
    .addOption(
      new Option('--log-level <level>', 'minimum level of log lines on stderr').choices(logLevels).default('WARNING'),
    )
    .option('--json', 'print JSON')
}

/** Filters by source and state of tools. */
export interface StateFlags {
  readonly source?: string[]
  readonly status?: string[]
  readonly executor?: string[]
  readonly readiness?: string[]
}

/** Adds the filters by source, life cycle status, executor and readiness. */
export function withStateFilters(command: Command): Command {
  const several = (flag: string, text: string, values: readonly string[]) =>
    new Option(flag, `${text} (${values.join(', ')})`).argParser(collect)
  return command
    .addOption(several('--source <kind>', 'only tools of this source', ToolSource.options))
    .addOption(several('--status <status>', 'only tools with this status, default ACTIVE', ToolStatus.options))
    .addOption(several('--executor <kind>', 'only tools of this kind of executor', ExecutorKindName.options))
    .addOption(several('--readiness <state>', 'only tools in this readiness state', ReadinessState.options))
}

/** The option for the maximum wait for runs at shutdown. */
export const drainOption = (): Option =>
  new Option(
    '--drain <seconds>',
    'time for running calls to finish at shutdown; idempotent runs then return to the queue',
  )
    .argParser(parseLimit)
    .default(25)

/** Adds the limits of running commands. */
export function withLimitOptions(command: Command): Command {
  return command
    .option('--max-output <bytes>', 'maximum size of each output stream; the rest is dropped', parseSize)
    .option('--max-file <bytes>', 'maximum size of a file that a command writes', parseSize)
    .addOption(
      new Option(
        '--containment <kind>',
        'how the processes of a call are grouped (default: the strongest available)',
      ).choices(['pid-namespace', 'process-group']),
    )
}

/** Adds the permissions of tools that run as processes. */
export function withSandboxOptions(command: Command): Command {
  return command
    .option(
      '--allow-limited',
      'run tools that request it with limits only, without a sandbox (or TOOLDEX_ALLOW_LIMITED=1)',
    )
    .addOption(
      new Option(
        '--limited <config>',
        'run the tools of this config with limits only, without a sandbox; * for all (or TOOLDEX_LIMITED)',
      ).argParser(collect),
    )
    .option('--allow-network', 'allow the network to tools that request it (or TOOLDEX_ALLOW_NETWORK=1)')
    .addOption(
      new Option(
        '--allow-folder <path[:ro|:rw]>',
        'allow sandboxed tools to read this folder, or with :rw to write it (or TOOLDEX_ALLOW_FOLDERS)',
      ).argParser(collect),
    )
    .addOption(
      new Option(
        '--grant <workspace=grant,...>',
        'grant a workspace parts of this host: host, folders, network, env, files, private, mcp, packages, all (or TOOLDEX_GRANTS)',
      ).argParser(collect),
    )
}

/** Maps the options of a command to those of the host. */
export function toOpenOptions(options: ToolOptions): OpenOptions {
  const { config: configs, policy, logLevel, maxOutput, maxFile, concurrency, containment, mcpServers } = options
  const { allowLimited, limited, allowNetwork, allowFolder: allowFolders, grant: grants } = options
  const allowed = { allowLimited, limited, allowNetwork, allowFolders, grants }
  return { configs, policy, logLevel, maxOutput, maxFile, concurrency, containment, mcpServers, ...allowed }
}

/** Collects a repeated option. */
export const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value]

/** Parses a number of bytes: `1048576`, `64KiB`, `10M`. */
export function parseSize(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)\s*([kmg]?)(?:i?b)?$/i.exec(text) ?? []
  if (digits === '') throw new InvalidArgumentError('Enter a number of bytes, such as 1048576, 64KiB or 10M.')
  return Number(digits) * 1024 ** ' kmg'.indexOf(unit.toLowerCase() || ' ')
}

/** Returns a parser for integers in a range; without a maximum, up to the largest exact one. */
export const parseInteger =
  (min: number, max = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text)
    if (/^(?:0|[1-9]\d*)$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(
      value > max ? `Enter an integer from ${min} to ${max}.` : `Enter an integer of at least ${min}.`,
    )
  }

const maxCount = 999_999

/** Parses a number of things, at least 1. */
export const parseCount: (text: string) => number = parseInteger(1, maxCount)

/** Parses a limit, at least 0. */
export const parseLimit: (text: string) => number = parseInteger(0, maxCount)

/** Formats a value as indented JSON. */
export const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

export const parsePort: (text: string) => number = parseInteger(0, 65_535)
