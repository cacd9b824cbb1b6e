import { homedir } from 'node:os'
import type { Command } from 'commander'
import { TooldexError, toTooldexError } from '../../../../base/errors.ts'
import { toOneLine } from '../../../../base/visible-text.ts'
import { findClientServers } from '../../../../operations/clients/find-client-servers.ts'
import type { ClientServer } from '../../../../operations/clients/read-client-servers.ts'
import { moveSecrets, toServer } from '../../../../operations/sources/server-input.ts'
import { addSource, approveSource } from '../../../../operations/sources/sources.ts'
import { approvedCommand } from '../../../../rules/server-definition.ts'
import { processEnv } from '../../../../rules/settings.ts'
import type { CliHost, RegistryClient } from '../../host.ts'
import { collect, toJson } from '../command.ts'
import { type RegistryFlags, withRegistry, withRegistryOptions } from './registry-command.ts'
import { isConfirmed } from './source-commands.ts'

interface ImportMcpFlags extends RegistryFlags {
  readonly only?: readonly string[]
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** The result of one server. */
interface Imported {
  readonly name: string
  readonly file: string
  readonly command?: string
  /** The names of stored secrets that its values were moved to, and other references. */
  readonly secrets?: readonly string[]
  readonly state: string
  readonly problem?: string
}

/** `tooldex import mcp [FILE]`: adds the MCP servers in the files of clients as sources. */
export function addImportMcp(group: Command, host: CliHost, exit: (code: number) => void): void {
  const command = group
    .command('mcp')
    .description('add the MCP servers in the config files of Claude Code, Cursor, VS Code and other clients as sources')
    .argument('[file]', 'one config file (default: those of all clients of this user and folder)')
    .option('--only <name>', 'only these servers', collect)
    .option('--dry-run', 'show the commands, URLs and secrets without importing anything')
    .option('-y, --yes', 'import and approve all without a question')
  withRegistryOptions(command).action(async (file: string | undefined, flags: ImportMcpFlags) => {
    const found = select(findClientServers(environment(), file), flags.only)
    if (found.length === 0)
      return host.out(flags.json ? toJson({ items: [] }) : 'No MCP servers found in the config files of clients.\n')
    const shown = found.map(preview)
    if (!flags.json) host.err(shown.map(textOf).join(''))
    const isApproved = !flags.dryRun && (flags.yes === true || (host.interactive && (await isConfirmed(host))))
    if (!isApproved) {
      if (flags.json) return host.out(toJson({ items: shown }))
      return host.out(
        flags.dryRun ? 'Nothing is imported.\n' : 'Nothing is imported. Import all with: tooldex import mcp --yes\n',
      )
    }
    const items = await withRegistry(host, flags, async (registry) => {
      const imported: Imported[] = []
      for (const server of found) imported.push(await add(registry, server))
      return imported
    })
    host.out(flags.json ? toJson({ items }) : items.map(resultOf).join(''))
    if (items.some(({ problem, state }) => problem !== undefined && state !== 'skipped')) exit(1)
  })
}

const environment = () => ({ home: homedir(), cwd: process.cwd(), platform: process.platform, env: processEnv })

function select(found: readonly ClientServer[], only?: readonly string[]): readonly ClientServer[] {
  const unknown = only?.find((name) => !found.some((server) => server.name === name))
  if (unknown === undefined) return only === undefined ? found : found.filter(({ name }) => only.includes(name))
  throw new TooldexError('USAGE', `No MCP server '${unknown}' was found.`, {
    hint: `Found: ${found.map(({ name }) => name).join(', ') || 'none'}.`,
  })
}

/** What an import would add; values of secrets are not part of it. */
function preview({ name, file, fields, skipped }: ClientServer): Imported {
  if (fields === undefined)
    return { name, file, state: 'skipped', ...(skipped === undefined ? {} : { problem: skipped }) }
  const { server } = moveSecrets(name, toServer(fields))
  const values = Object.values('command' in server ? server.env : server.headers)
  const secrets = values.flatMap((value) => /(?:secret|env|file):\S+$/.exec(value) ?? [])
  return { name, file, command: approvedCommand(server), secrets, state: 'found' }
}

async function add(registry: RegistryClient, server: ClientServer): Promise<Imported> {
  const shown = preview(server)
  const { name, fields } = server
  if (fields === undefined) return shown
  try {
    const { approval } = await registry.invoke(addSource, { name, ...fields })
    const { state, lastFailure } = await registry.invoke(approveSource, { name, hash: approval?.hash ?? '' })
    return { ...shown, state, ...(lastFailure === null ? {} : { problem: lastFailure.reason }) }
  } catch (thrown) {
    return { ...shown, state: 'not imported', problem: toTooldexError(thrown).message }
  }
}

const textOf = ({ name, file, command, secrets = [], problem }: Imported): string => {
  const what = command ?? `skipped: ${toOneLine(problem ?? '')}`
  const references = secrets.length === 0 ? '' : `\n  secrets: ${secrets.map(toOneLine).join(', ')}`
  return `${name} (${toOneLine(file)})\n  ${what}${references}\n`
}

const resultOf = ({ name, state, problem }: Imported): string =>
  `${name}: ${state}${problem === undefined ? '' : `, ${toOneLine(problem)}`}\n`
