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
          return `${formatTable(['Name', 'Begins', 'Scopes', 'State', 'Last used'], rows, host.columns)}\n`
        },
      }),
  )
  withRegistryOptions(group.command('current').description('who you are to the server, and what you may do')).action(
    (flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: currentKey,
        input: {},
        text: ({ name, workspace, scopes }) => `${name} in the workspace ${workspace}: ${scopes.join(', ')}\n`,
      }),
  )
  const create = group
    .command('create <name>')
    .description('make a key; its secret is shown this once')
    .addOption(
      new Option(
        '--scope <scope>',
        'what it may do: read (if left out), call, write, admin; may be repeated',
      ).argParser(collect),
    )
    .option('--expires <time>', 'until when it is valid, such as 2027-01-31T00:00:00Z')
    .option('--workspace <name>', 'for another workspace; its first key makes it')
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
  withRegistryOptions(group.command('revoke <name>').description('revoke a key at once and for good')).action(
    (idOrName: string, flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: revokeKey,
        input: { idOrName },
        text: ({ name }) => `${name} is revoked.\n`,
      }),
  )
}

/** `tooldex audit`: who changed what. */
export const addAudit: AddCommand = (program, host) => {
  const command = program
    .command('audit')
    .option('--subject <subject>', 'only of this, such as tool:send_report')
    .option('--limit <n>', 'at most this many', parseCount)
    .option('--cursor <cursor>', 'go on where the last list ended')
  withRegistryOptions(command).action((flags: RegistryFlags & Record<string, unknown>) => {
    const { server: _server, json: _json, ...input } = flags
    return printOperation(host, flags, {
      operation: listAudit,
      input,
      text: ({ items }) => {
        const rows = items.map(({ at, actor, action, subject }) => [at, actor, action, subject])
        return `${formatTable(['When', 'Who', 'What', 'Of what'], rows, host.columns)}\n`
      },
    })
  })
}

const stateOf = ({ revokedAt, expiresAt }: { revokedAt: string | null; expiresAt: string | null }): string => {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'valid'
  return Date.parse(expiresAt) < Date.now() ? 'expired' : `until ${expiresAt}`
}
