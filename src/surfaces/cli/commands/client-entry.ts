import { isAbsolute, relative, resolve, sep } from 'node:path'
import { type Command, Option } from 'commander'
import { TooldexError } from '../../../base/errors.ts'
import { ToolsetName } from '../../../contract/toolset.ts'
import {
  type Client,
  type ClientName,
  type ClientScope,
  chooseClientScope,
  clientNames,
  clientScopes,
  clients,
} from '../../../operations/clients/client-files.ts'
import { readSetting } from '../../../rules/settings.ts'
import { defaultHome } from '../../../sources/cli/config-files.ts'
import type { CliHost } from '../host.ts'
import { collect } from './command.ts'

/** The options of a place in the config of a client. */
export interface PlaceFlags {
  readonly name?: string
  readonly scope?: ClientScope
  readonly json?: boolean
}

/** The options of a server entry. */
export interface EntryFlags extends PlaceFlags {
  readonly config?: string[]
  readonly policy?: string
  readonly server?: string
  readonly classic?: boolean
  readonly http?: boolean
  readonly oauth?: boolean
  readonly toolset?: string
}

export const clientArgument = `one of: ${clientNames.join(', ')}`

/** The options of the place in the config of a client. */
export const withPlaceOptions = (command: Command): Command =>
  command
    .option('--name <name>', 'name of the server in the client', 'tooldex')
    .addOption(
      new Option(
        '--scope <scope>',
        'user: for you in every folder; project: for all users of this folder. The default depends on the client',
      ).choices(clientScopes),
    )
    .option('--json', 'print JSON')

/** The configs and options of the entry with which a client reaches Tooldex. */
export const withEntryOptions = (command: Command): Command =>
  command
    .argument('[config...]', 'configs to serve (default: all named configs, or none with --server)')
    .option('-c, --config <name|file>', 'another config to serve', collect)
    .option('--policy <file>', 'policy file that restricts the calls')
    .option('--server <url>', 'offer the tools of this server')
    .option('--classic', 'list every tool directly')
    .option('--toolset <name>', 'offer only the tools of this toolset of the server')
    .option('--http', 'let the client connect to the MCP endpoint of --server itself, with the key in TOOLDEX_API_KEY')
    .option('--oauth', 'the same without a key: the client signs in with OAuth')

/** Validates the options of an entry, opens its configs, and returns the input of the operation and what the user should know. */
export async function openClientEntry(host: CliHost, client: string, names: readonly string[], flags: EntryFlags) {
  const { name, scope } = flags
  const requested = [...names, ...(flags.config ?? [])]
  if (flags.server !== undefined) checkUrl(flags.server)
  if (flags.toolset !== undefined) checkToolset(flags.toolset, requested)
  if (flags.http || flags.oauth) {
    const entry = { url: endpointOf(requested, flags), ...(flags.oauth ? {} : { keyVariable: 'TOOLDEX_API_KEY' }) }
    return { input: { client, ...entry, name, scope }, context: await host.open({ configs: [] }), notes: [] }
  }
  const isRemote = flags.server !== undefined || flags.toolset !== undefined
  const configs = requested.length > 0 || isRemote ? requested : host.configNames()
  // The configs are opened first: clients report little about a server that fails to start.
  const context = await host.open({ configs, policy: flags.policy })
  if (!isClient(client)) return { input: { client, command: ['tooldex'], name, scope }, context, notes: [] }
  const entry = toEntry(host, client, { ...flags, configs })
  return { input: { client, ...entry, name, scope }, context, notes: notesFor(host, client, flags) }
}

/** The MCP endpoint of a server, which serves its own tools. */
function endpointOf(requested: readonly string[], { server, toolset, policy, classic }: EntryFlags): string {
  const unused = Object.entries({ configs: requested.length > 0, policy, classic }).find(([, value]) => value)
  if (server === undefined || unused !== undefined)
    throw new TooldexError(
      'USAGE',
      server === undefined ? '--http needs the URL of a server.' : `--http cannot be combined with ${unused?.[0]}.`,
      { hint: 'Write: CLIENT --http --server http://127.0.0.1:7331' },
    )
  return `${server.replace(/\/+$/, '')}/mcp${toolset === undefined ? '' : `/${encodeURIComponent(toolset)}`}`
}

const isClient = (name: string): name is ClientName => (clientNames as readonly string[]).includes(name)

function checkToolset(name: string, configs: readonly string[]): void {
  if (configs.length > 0)
    throw new TooldexError('USAGE', '--toolset cannot be combined with configs.', {
      hint: 'A toolset selects tools of a server or of the local database; omit the other.',
    })
  if (ToolsetName.safeParse(name).success) return
  throw new TooldexError('USAGE', `--toolset is not a valid name: '${name}'.`, {
    hint: 'List the toolsets with: tooldex toolsets list',
  })
}

function checkUrl(url: string): void {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return
  throw new TooldexError('USAGE', `--server is not a valid URL: '${url}'.`, {
    hint: 'Set it to something like http://127.0.0.1:7331.',
  })
}

type EntryOptions = Omit<EntryFlags, 'config'> & { readonly configs: readonly string[] }

/** The command and variables in a client's file: portable where the file is meant to be committed. */
function toEntry(host: CliHost, id: ClientName, { configs, policy, server, classic, scope, toolset }: EntryOptions) {
  const portable = chooseClientScope(id, scope) === 'project'
  const path = portable ? toPortable : (file: string) => resolve(file)
  const options = [
    ...(classic ? ['--classic'] : []),
    ...(server === undefined ? [] : ['--server', server]),
    ...(toolset === undefined ? [] : ['--toolset', toolset]),
    ...(policy === undefined ? [] : ['--policy', path(policy)]),
  ]
  const files = configs.map((config) => (/[/\\]|\.ya?ml$/i.test(config) ? path(config) : config))
  const env = toVariables(id, { portable, server })
  return {
    command: [...host.selfCommand(portable), 'run', ...options, ...files],
    ...(Object.keys(env).length === 0 ? {} : { env }),
  }
}

/** Passes TOOLDEX_HOME on; a committed file refers to the variable, and no file ever contains a key. */
function toVariables(id: ClientName, { portable, server }: { portable: boolean; server: string | undefined }) {
  const { variable }: Client = clients[id]
  const set = readSetting('TOOLDEX_HOME')
  // In a project the default is omitted: others need not set the variable, and some clients pass an unset one on as written.
  const home = set && portable && resolve(set) === resolve(defaultHome()) ? undefined : set
  const env: Record<string, string> = {}
  if (home) env.TOOLDEX_HOME = portable && variable !== undefined ? variable('TOOLDEX_HOME') : resolve(home)
  if (server !== undefined && variable !== undefined) env.TOOLDEX_API_KEY = variable('TOOLDEX_API_KEY')
  return env
}

/** Clients start the server of a project in its folder. */
function toPortable(file: string): string {
  const path = relative(process.cwd(), resolve(file))
  if (path.startsWith('..') || isAbsolute(path))
    throw new TooldexError('USAGE', `${file} is outside this folder, so the config of a project cannot refer to it.`, {
      hint: 'Move it into the project, or use --scope user if the client supports it.',
    })
  return path.split(sep).join('/')
}

function notesFor(host: CliHost, id: ClientName, { scope, server }: EntryFlags): readonly string[] {
  const { variable, title }: Client = clients[id]
  const notes: string[] = []
  if (chooseClientScope(id, scope) === 'project' && host.selfCommand(true)[0] === 'tooldex' && !host.isOnPath())
    notes.push('the entry runs "tooldex", which is not on your PATH: run npm install -g, or npm link in its folder')
  if (server !== undefined && variable === undefined)
    notes.push(`${title} needs TOOLDEX_API_KEY in the env of this entry; add it yourself`)
  return notes
}
