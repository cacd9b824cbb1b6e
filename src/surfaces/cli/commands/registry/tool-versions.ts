import type { Command } from 'commander'
import { diffVersions, listVersions, rollbackTool } from '../../../../operations/registry/versions.ts'
import { formatTable } from '../../format-table.ts'
import type { CliHost } from '../../host.ts'
import { parseCount } from '../command.ts'
import { given, printOperation, type RegistryFlags, said, withRegistryOptions } from './registry-command.ts'

interface PageFlags extends RegistryFlags {
  readonly limit?: number
  readonly cursor?: string
}

/** `tooldex tools versions`, `diff` and `rollback`. */
export function addVersions(group: Command, host: CliHost): void {
  const versions = group
    .command('versions <tool>')
    .description('list the versions of a tool, newest first')
    .option('--limit <n>', 'at most this many', parseCount)
    .option('--cursor <cursor>', 'go on where the last list ended')
  withRegistryOptions(versions).action((idOrName: string, { limit, cursor, ...flags }: PageFlags) =>
    printOperation(host, flags, {
      operation: listVersions,
      input: { idOrName, ...given({ limit, cursor }) },
      text({ items, nextCursor }) {
        const rows = items.map(({ version, isLatest, createdAt, createdBy, changelog }) => [
          `${version}${isLatest ? ' (latest)' : ''}`,
          createdAt,
          createdBy ?? '',
          changelog ?? '',
        ])
        const more = nextCursor === undefined ? '' : `more: --cursor ${nextCursor}\n`
        return `${formatTable(['Version', 'When', 'Who', 'What'], rows, host.columns)}\n${more}`
      },
    }),
  )
  const diff = group
    .command('diff <tool>')
    .description('compare two versions, and say what that means to callers')
    .option('--from <n>', 'the older one; the one before the other, if left out', parseCount)
    .option('--to <n>', 'the newer one; the latest, if left out', parseCount)
  withRegistryOptions(diff).action(
    (idOrName: string, { from, to, ...flags }: RegistryFlags & { from?: number; to?: number }) =>
      printOperation(host, flags, {
        operation: diffVersions,
        input: { idOrName, ...given({ from, to }) },
        text: (answer) => `version ${answer.from} to ${answer.to}: ${answer.text}\n`,
      }),
  )
  const rollback = group
    .command('rollback <tool>')
    .argument('<version>', 'which one', parseCount)
    .description('make a new version with the content of an earlier one')
    .option('--changelog <text>', 'what to say about it')
    .option('--expected-version <n>', 'only if it still has this version', parseCount)
  withRegistryOptions(rollback).action((idOrName: string, version: number, flags: RollbackFlags) => {
    const { changelog, expectedVersion } = flags
    const input = { idOrName, version, ...given({ changelog, expectedVersion }) }
    return printOperation(host, flags, { operation: rollbackTool, input, text: said })
  })
}

interface RollbackFlags extends RegistryFlags {
  readonly changelog?: string
  readonly expectedVersion?: number
}
