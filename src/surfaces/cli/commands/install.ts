import { isAbsolute, relative, resolve, sep } from 'node:path'
import { type Command, Option } from 'commander'
import colors from 'picocolors'
import { TooldexError } from '../../../base/errors.ts'
import { ToolsetName } from '../../../contract/toolset.ts'
import {
  type Client,
  type ClientName,
  type ClientScope,
  clientNames,
  clientScopes,
  clients,
  scopeOf,
} from '../../../operations/clients/client-files.ts'
import { installClient, uninstallClient } from '../../../operations/clients/install-client.ts'
import { invoke } from '../../../operations/invoke.ts'
import { readSetting } from '../../../rules/settings.ts'
import { defaultHome } from '../../../sources/cli/config-files.ts'
import type { CliHost } from '../host.ts'
import { type AddCommand, collect, toJson } from './command.ts'

interface TargetFlags {
  readonly name?: string
  readonly scope?: ClientScope
  readonly dryRun?: boolean
  readonly json?: boolean
}

interface InstallFlags extends TargetFlags {
  readonly config?: string[]
  readonly policy?: string
  readonly server?: string
  readonly classic?: boolean
  readonly http?: boolean
  readonly oauth?: boolean
  readonly toolset?: string
}

/** `tooldex install CLIENT CONFIG...`: adds the server to the config of a client. */
export const addInstall: AddCommand = (program, host) => {
  const command = program
    .command('install')
    .argument('<client>', `one of: ${clientNames.join(', ')}`)
    .argument('[config...]', 'configs to serve (default: all named configs, or none with --server)')
    .option('-c, --config <name|file>', 'another config to serve', collect)
    .option('--policy <file>', 'policy file that restricts the calls')
    .option('--server <url>', 'offer the tools of this server')
    .option('--classic', 'list every tool directly')
    .option('--toolset <name>', 'offer only the tools of this toolset of the server')
    .option('--http', 'let the client connect to the MCP endpoint of --server itself, with the key in TOOLDEX_API_KEY')
    .option('--oauth', 'the same without a key: the client signs in with OAuth')
  withTarget(command).action(async (client: string, names: string[], flags: InstallFlags) => {
    if (flags.server !== undefined) checkUrl(flags.server)
    if (flags.toolset !== undefined) checkToolset(flags.toolset, requestedConfigs(names, flags))
    if (flags.http || flags.oauth) return print(host, flags, await installHttp(host, client, names, flags))
    const requested = requestedConfigs(names, flags)
    const isRemote = flags.server !== undefined || flags.toolset !== undefined
    const configs = requested.length > 0 || isRemote ? requested : host.configNames()
    // The configs are opened first: clients report little about a server that fails to start.
    const context = await host.open({ configs, policy: flags.policy })
    const entry = isClient(client) ? toEntry(host, client, { ...flags, configs }) : { command: ['tooldex'] }
    const input = { client, ...entry, name: flags.name, scope: flags.scope, dryRun: flags.dryRun }
    print(host, flags, await invoke(installClient, input, context))
    if (!flags.json && isClient(client)) for (const note of notesFor(host, client, flags)) host.err(`note: ${note}\n`)
  })
}

/** Adds the MCP endpoint of a server, which serves its own tools. */
async function installHttp(host: CliHost, client: string, names: readonly string[], flags: InstallFlags) {
  const { server, name, scope, dryRun, oauth, toolset } = flags
  const rest = { configs: requestedConfigs(names, flags).length > 0, policy: flags.policy, classic: flags.classic }
  const unused = Object.entries(rest).find(([, value]) => value)
  if (server === undefined || unused !== undefined)
    throw new TooldexError(
      'USAGE',
      server === undefined ? '--http needs the URL of a server.' : `--http cannot be combined with ${unused?.[0]}.`,
      { hint: 'Write: tooldex install CLIENT --http --server http://127.0.0.1:7331' },
    )
  const url = `${server.replace(/\/+$/, '')}/mcp${toolset === undefined ? '' : `/${encodeURIComponent(toolset)}`}`
  const input = { client, url, ...(oauth ? {} : { keyVariable: 'TOOLDEX_API_KEY' }), name, scope, dryRun }
  return invoke(installClient, input, await host.open({ configs: [] }))
}

/** `tooldex uninstall CLIENT`: removes the server from the config of a client. */
export const addUninstall: AddCommand = (program, host) => {
  const command = program.command('uninstall').argument('<client>', `one of: ${clientNames.join(', ')}`)
  withTarget(command).action(async (client: string, flags: TargetFlags) => {
    const { name, scope, dryRun } = flags
    print(host, flags, await invoke(uninstallClient, { client, name, scope, dryRun }, await host.open({ configs: [] })))
  })
}

const withTarget = (command: Command): Command =>
  command
    .option('--name <name>', 'name of the server in the client', 'tooldex')
    .addOption(
      new Option(
        '--scope <scope>',
        'user: for you in every folder; project: for all users of this folder. The default depends on the client',
      ).choices(clientScopes),
    )
    .option('--dry-run', 'show the change without writing it')
    .option('--json', 'print JSON')

const isClient = (name: string): name is ClientName => (clientNames as readonly string[]).includes(name)

const requestedConfigs = (names: readonly string[], { config = [] }: InstallFlags) => [...names, ...config]

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

type EntryOptions = Omit<InstallFlags, 'config'> & { readonly configs: readonly string[] }

/** The command and variables in a client's file: portable where the file is meant to be committed. */
function toEntry(host: CliHost, id: ClientName, { configs, policy, server, classic, scope, toolset }: EntryOptions) {
  const portable = scopeOf(id, scope) === 'project'
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

function notesFor(host: CliHost, id: ClientName, { scope, server }: InstallFlags): readonly string[] {
  const { variable, title }: Client = clients[id]
  const notes: string[] = []
  if (scopeOf(id, scope) === 'project' && host.selfCommand(true)[0] === 'tooldex' && !host.isOnPath())
    notes.push('the entry runs "tooldex", which is not on your PATH: run npm install -g, or npm link in its folder')
  if (server !== undefined && variable === undefined)
    notes.push(`${title} needs TOOLDEX_API_KEY in the env of this entry; add it yourself`)
  return notes
}

type Answer = Awaited<ReturnType<typeof installClient.handle>>

function print(host: CliHost, { json, dryRun }: TargetFlags, answer: Answer): void {
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
