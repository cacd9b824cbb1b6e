import { text } from 'node:stream/consumers'
import { TooldexError } from '../../../../base/errors.ts'
import { listSecrets, putSecret, removeSecret } from '../../../../operations/registry/secrets.ts'
import { formatTable } from '../../format-table.ts'
import type { AddCommand } from '../command.ts'
import { printOperation, type RegistryFlags, withRegistryOptions } from './registry-command.ts'

/** `tooldex secrets`: secrets that tools refer to as secret:NAME. */
export const addSecrets: AddCommand = (program, host) => {
  const secrets = program.command('secrets')
  withRegistryOptions(secrets.command('list').description('list secrets, without their values')).action(
    (flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: listSecrets,
        input: {},
        text: ({ items }) =>
          items.length === 0
            ? 'No secrets.\n'
            : formatTable(
                ['name', 'changed', 'by'],
                items.map((each) => [each.name, each.updatedAt, each.createdBy ?? '']),
                host.columns,
              ),
      }),
  )
  withRegistryOptions(
    secrets.command('set').description('store a secret; its value is read from standard input').argument('<name>'),
  ).action(async (name: string, flags: RegistryFlags) => {
    const value = await readValue(host.interactive)
    await printOperation(host, flags, {
      operation: putSecret,
      input: { name, value },
      text: (stored) => `${stored.name} is stored.\n`,
    })
  })
  withRegistryOptions(secrets.command('remove').description('delete a secret').argument('<name>')).action(
    (name: string, flags: RegistryFlags) =>
      printOperation(host, flags, {
        operation: removeSecret,
        input: { name },
        text: (removed) => `${removed.name} is deleted.\n`,
      }),
  )
}

/** Values are not accepted as arguments: every user who can list processes would see them. */
async function readValue(interactive: boolean): Promise<string> {
  if (interactive)
    throw new TooldexError('USAGE', 'The value of a secret is read from standard input.', {
      hint: 'Run: tooldex secrets set NAME < FILE',
    })
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}
