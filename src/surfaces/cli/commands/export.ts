import { exportClient } from '../../../operations/clients/install-client.ts'
import { invoke } from '../../../operations/invoke.ts'
import { clientArgument, type EntryFlags, openClientEntry, withEntryOptions, withPlaceOptions } from './client-entry.ts'
import { type AddCommand, toJson } from './command.ts'
import { addExportServerJson } from './registry/registry-file.ts'

/** `tooldex export mcp-config [CLIENT] [CONFIG...]` and `tooldex export server-json`: by which clients reach the server. */
export const addExport: AddCommand = (program, host) => {
  const group = program.command('export')
  addExportServerJson(group, host)
  const command = group
    .command('mcp-config')
    .description('print the config with which an MCP client reaches Tooldex, without writing it')
    .argument('[client]', `${clientArgument}; the default is the form of .mcp.json`, 'claude-code')
  withPlaceOptions(withEntryOptions(command)).action(async (client: string, names: string[], flags: EntryFlags) => {
    const { input, context, notes } = await openClientEntry(host, client, names, flags)
    const answer = await invoke(exportClient, input, context)
    host.out(flags.json ? toJson(answer) : answer.config)
    if (flags.json) return
    host.err(`Put it into ${answer.file}, or let tooldex install ${client} do so. ${answer.next}\n`)
    for (const note of notes) host.err(`note: ${note}\n`)
  })
}
