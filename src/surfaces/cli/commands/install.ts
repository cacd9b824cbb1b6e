import type { Command } from 'commander'
import colors from 'picocolors'
import { installClient, uninstallClient } from '../../../operations/clients/install-client.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { CliHost } from '../host.ts'
import {
  clientArgument,
  type EntryFlags,
  openClientEntry,
  type PlaceFlags,
  withEntryOptions,
  withPlaceOptions,
} from './client-entry.ts'
import { type AddCommand, toJson } from './command.ts'

interface ChangeFlags extends PlaceFlags {
  readonly dryRun?: boolean
}

/** `tooldex install CLIENT CONFIG...`: adds the server to the config of a client. */
export const addInstall: AddCommand = (program, host) => {
  const command = withEntryOptions(program.command('install').argument('<client>', clientArgument))
  withChangeOptions(command).action(async (client: string, names: string[], flags: EntryFlags & ChangeFlags) => {
    const { input, context, notes } = await openClientEntry(host, client, names, flags)
    print(host, flags, await invoke(installClient, { ...input, dryRun: flags.dryRun }, context))
    if (!flags.json) for (const note of notes) host.err(`note: ${note}\n`)
  })
}

/** `tooldex uninstall CLIENT`: removes the server from the config of a client. */
export const addUninstall: AddCommand = (program, host) => {
  const command = program.command('uninstall').argument('<client>', clientArgument)
  withChangeOptions(command).action(async (client: string, flags: ChangeFlags) => {
    const { name, scope, dryRun } = flags
    print(host, flags, await invoke(uninstallClient, { client, name, scope, dryRun }, await host.open({ configs: [] })))
  })
}

const withChangeOptions = (command: Command): Command =>
  withPlaceOptions(command.option('--dry-run', 'show the change without writing it'))

type Answer = Awaited<ReturnType<typeof installClient.handle>>

function print(host: CliHost, { json, dryRun }: ChangeFlags, answer: Answer): void {
  host.out(json ? toJson(answer) : toText(answer, dryRun === true))
}

function toText({ file, changed, backup, diff, next, client }: Answer, dryRun: boolean): string {
  if (!changed) return `Nothing to change for ${client}: ${file}\n`
  const paint = (line: string) => (line[0] === '+' ? colors.green(line) : line[0] === '-' ? colors.red(line) : line)
  const lines = [dryRun ? `Would change ${file}:` : `Changed ${file}:`, ...diff.map(paint)]
  if (backup !== null) lines.push(`The previous file is kept as ${backup}`)
  if (!dryRun) lines.push(next)
  return `${lines.join('\n')}\n`
}
