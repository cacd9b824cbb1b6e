import { Option } from 'commander'
import { createKey, currentKey, listAudit, listKeys, revokeKey } from '../../../../operations/registry/keys.ts'
import { formatTable } from '../../format-table.ts'
import { type AddCommand, collect, parseCount } from '../command.ts'
import { printOperation, type RegistryFlags, withRegistryOptions } from './registry-command.ts'

/** `tooldex keys ...`: API keys. */
export const addKeys: AddCommand = (program, host) => {
  const group = program.command('keys')
  withRegistryOptions(group.command('list').description('list keys without their secrets')).action(
    (flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: listKeys,
        input: {},
        text: ({ items }) => {
          const rows = items.map((key) => [
            key.name,
            key.prefix,
            key.scopes.join(' '),
            stateOf(key),
            key.lastUsedAt ?? 'never',
          ])
          return `${formatTable(['Name', 'Prefix', 'Scopes', 'State', 'Last used'], rows, host.columns)}\n`
        },
      }),
  )
  withRegistryOptions(group.command('current').description('show the current key and its scopes')).action(
    (flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: currentKey,
        input: {},
        text: ({ name, workspace, scopes }) => `${name} in the workspace ${workspace}: ${scopes.join(', ')}\n`,
      }),
  )
  const create = group
    .command('create <name>')
    .description('create a key; its secret is shown only once')
    .addOption(
      new Option('--scope <scope>', 'scope of the key: read (default), call, write, admin; may be repeated').argParser(
        collect,
      ),
    )
    .option('--expires <time>', 'expiry time, such as 2027-01-31T00:00:00Z')
    .option('--workspace <name>', 'workspace of the key; created if it does not exist')
  withRegistryOptions(create).action(
    (name: string, flags: RegistryFlags & { scope?: string[]; expires?: string; workspace?: string }) => {
      const { scope, expires, workspace } = flags
      const input = {
        name,
        ...(scope === undefined ? {} : { scopes: scope }),
        ...(expires === undefined ? {} : { expiresAt: expires }),
        ...(workspace === undefined ? {} : { workspace }),
      }
      return printOperation(host, flags, { operation: createKey, input, text: ({ secret }) => `${secret}\n` })
    },
  )
  withRegistryOptions(group.command('revoke <name>').description('revoke a key immediately and permanently')).action(
    (idOrName: string, flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: revokeKey,
        input: { idOrName },
        text: ({ name }) => `${name} is revoked.\n`,
      }),
  )
}

/** `tooldex audit`: the log of changes. */
export const addAudit: AddCommand = (program, host) => {
  const command = program
    .command('audit')
    .option('--subject <subject>', 'only changes of this subject, such as tool:send_report')
    .option('--limit <n>', 'maximum number of results', parseCount)
    .option('--cursor <cursor>', 'cursor of the next page')
  withRegistryOptions(command).action((flags: RegistryFlags & Record<string, unknown>) => {
    const { server: _server, json: _json, ...input } = flags
    return printOperation(host, flags, {
      operation: listAudit,
      input,
      text: ({ items }) => {
        const rows = items.map(({ at, actor, action, subject }) => [at, actor, action, subject])
        return `${formatTable(['Time', 'Actor', 'Action', 'Subject'], rows, host.columns)}\n`
      },
    })
  })
}

const stateOf = ({ revokedAt, expiresAt }: { revokedAt: string | null; expiresAt: string | null }): string => {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'valid'
  return Date.parse(expiresAt) < Date.now() ? 'expired' : `until ${expiresAt}`
}
