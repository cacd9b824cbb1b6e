import type { Command } from 'commander'
import { diffVersions, listVersions, rollbackTool } from '../../../../operations/registry/versions.ts'
import { formatTable } from '../../format-table.ts'
import type { CliHost } from '../../host.ts'
import { parseCount } from '../command.ts'
import {
  definedOptions,
  printOperation,
  type RegistryFlags,
  toolStateText,
  withRegistryOptions,
} from './registry-command.ts'

interface PageFlags extends RegistryFlags {
  readonly limit?: number
  readonly cursor?: string
}

/** `tooldex tools versions`, `diff` and `rollback`. */
export function addVersions(group: Command, host: CliHost): void {
  const versions = group
    .command('versions <tool>')
    .description('list the versions of a tool, newest first')
    .option('--limit <n>', 'maximum number of results', parseCount)
    .option('--cursor <cursor>', 'cursor of the next page')
  withRegistryOptions(versions).action((idOrName: string, { limit, cursor, ...flags }: PageFlags) =>
    printOperation(host, flags, {
      operation: listVersions,
      input: { idOrName, ...definedOptions({ limit, cursor }) },
      text({ items, nextCursor }) {
        const rows = items.map(({ version, isLatest, createdAt, createdBy, changelog }) => [
          `${version}${isLatest ? ' (latest)' : ''}`,
          createdAt,
          createdBy ?? '',
          changelog ?? '',
        ])
        const more = nextCursor === undefined ? '' : `more: --cursor ${nextCursor}\n`
        return `${formatTable(['Version', 'Time', 'Actor', 'Changelog'], rows, host.columns)}\n${more}`
      },
    }),
  )
  const diff = group
    .command('diff <tool>')
    .description('compare two versions and classify the changes')
    .option('--from <n>', 'older version (default: the one before --to)', parseCount)
    .option('--to <n>', 'newer version (default: the latest)', parseCount)
  withRegistryOptions(diff).action(
    (idOrName: string, { from, to, ...flags }: RegistryFlags & { from?: number; to?: number }) =>
      printOperation(host, flags, {
        operation: diffVersions,
        input: { idOrName, ...definedOptions({ from, to }) },
        text: (answer) => `version ${answer.from} to ${answer.to}: ${answer.text}\n`,
      }),
  )
  const rollback = group
    .command('rollback <tool>')
    .argument('<version>', 'version to restore', parseCount)
    .description('create a new version with the content of an earlier one')
    .option('--changelog <text>', 'description of the change')
    .option('--expected-version <n>', 'fail unless the tool still has this version', parseCount)
  withRegistryOptions(rollback).action((idOrName: string, version: number, flags: RollbackFlags) => {
    const { changelog, expectedVersion } = flags
    const input = { idOrName, version, ...definedOptions({ changelog, expectedVersion }) }
    return printOperation(host, flags, { operation: rollbackTool, input, text: toolStateText })
  })
}

interface RollbackFlags extends RegistryFlags {
  readonly changelog?: string
  readonly expectedVersion?: number
}
