import { readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { TooldexError, toTooldexError } from '../../../base/errors.ts'
import { ensureFolder } from '../../../base/home-files.ts'
import { toOneLine } from '../../../base/invisible-characters.ts'
import { untilAborted } from '../../../base/until-aborted.ts'
import { bundleLimits } from '../../../contract/bundle.ts'
import { findClientServers } from '../../../operations/clients/find-client-servers.ts'
import type { ClientServer } from '../../../operations/clients/read-client-servers.ts'
import { invoke } from '../../../operations/invoke.ts'
import { importHelp } from '../../../operations/server/import-help.ts'
import { moveSecrets, toServer } from '../../../operations/sources/server-input.ts'
import { addSource, approveSource } from '../../../operations/sources/sources.ts'
import { approvedCommand } from '../../../rules/server-definition.ts'
import { processEnv } from '../../../rules/settings.ts'
import type { CliHost, RegistryClient } from '../host.ts'
import { readText } from '../read-tool-file.ts'
import { type AddCommand, collect, parseCount, toJson } from './command.ts'
import { definedOptions, type RegistryFlags, withRegistry, withRegistryOptions } from './registry/registry-command.ts'
import { isConfirmed } from './registry/source-commands.ts'
import { type ImportFlags, importInto } from './registry/tool-bundles.ts'

interface HelpFlags {
  readonly out?: string
  readonly from?: string
  readonly max?: number
  readonly json?: boolean
}

/** `tooldex import help COMMAND` drafts a config from the help text of a program; `import openapi` registers a service. */
export const addImport: AddCommand = (program, host, exit) => {
  const command = program.command('import')
  addImportOpenApi(command, host)
  addImportMcp(command, host, exit)
  command
    .command('help')
    .description('draft a config from the --help output of a program')
    .argument('<command>', 'program to read')
    .argument('[subcommand...]', 'only these subcommands')
    .option('-o, --out <file>', 'write the draft to this file instead of printing it')
    .option('--from <file>', 'read the help text from a file instead of running the program')
    .option('--max <n>', 'maximum number of subcommands', parseCount)
    .option('--json', 'print JSON')
    .action(async (name: string, subcommands: string[], flags: HelpFlags) => {
      const helpText = flags.from === undefined ? undefined : readFile(flags.from)
      const input = { command: name, subcommands, max: flags.max, helpText }
      const answer = await invoke(importHelp, input, { ...(await host.open({ configs: [] })), signal: host.signal })
      if (flags.json) return host.out(toJson(answer))
      if (flags.out === undefined) host.out(answer.yaml)
      else writeNew(flags.out, answer.yaml)
      const where = flags.out === undefined ? '' : ` to ${flags.out}`
      host.err(`Drafted ${answer.tools} tool(s)${where}; ${answer.unsure.length} line(s) marked "# unsure".\n`)
      if (flags.out !== undefined) host.err(`Next: review it, then run: tooldex validate --strict ${flags.out}\n`)
    })
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new TooldexError('FILE_REFUSED', `${path} cannot be read.`, { cause })
  }
}

function writeNew(path: string, text: string): void {
  try {
    ensureFolder(dirname(path))
    writeFileSync(path, text, { flag: 'wx' })
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'already exists' : 'cannot be written'
    throw new TooldexError('FILE_REFUSED', `${path} ${why}.`, { hint: 'Choose another file.', cause })
  }
}

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
function addImportMcp(group: Command, host: CliHost, exit: (code: number) => void): void {
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

interface OpenApiFlags extends ImportFlags {
  readonly namespace?: string
  readonly include?: string[]
  readonly exclude?: string[]
  readonly baseUrl?: string
  readonly auth?: string[]
  readonly allowPrivate?: boolean
  readonly activate?: boolean
  readonly outputSchemas?: boolean
}

/** `tooldex import openapi FILE|URL`: makes a tool of each operation of a service. */
function addImportOpenApi(group: Command, host: CliHost): void {
  const command = group
    .command('openapi')
    .description('register the operations of an OpenAPI document (3.0, 3.1 or Swagger 2.0) as tools')
    .argument('<file|url>', 'the document, as JSON or YAML; - for standard input')
    .option('--namespace <name>', 'namespace of the tools and prefix of their names (default: from the title)')
    .option('--include <pattern>', 'only these operations: an id, "GET /users/*" or tag:users', collect)
    .option('--exclude <pattern>', 'not these operations', collect)
    .option('--base-url <url>', 'URL of the service, instead of the servers of the document')
    .option('--auth <[scheme=]secret>', 'secret of a security scheme, such as token=secret:github', collect)
    .option('--allow-private', 'allow a service at a private address')
    .option('--activate', 'make new tools active at once')
    .option('--output-schemas', 'validate responses against the schemas of the document')
    .option('--prune', 'remove tools of the namespace that are not in the document')
    .option('--dry-run', 'show the changes without making them')
  withRegistryOptions(command).action(async (source: string, flags: OpenApiFlags) => {
    const { namespace, include, exclude, allowPrivate, activate, outputSchemas } = flags
    const isUrl = /^https?:\/\//i.test(source)
    const text = isUrl ? await download(source, host.signal) : readText(source)
    const auth = flags.auth === undefined ? undefined : Object.fromEntries(flags.auth.map(toSecret))
    const baseUrl = flags.baseUrl ?? (isUrl ? resolvedServer(text, source) : undefined)
    const openapi = { namespace, include, exclude, baseUrl, auth, allowPrivate, activate, outputSchemas }
    const file = source === '-' ? 'stdin' : source
    await importInto(host, flags, { text, file: file.slice(-500), openapi: definedOptions(openapi) })
  })
}

/** `token=secret:github` is the secret of one scheme, `secret:github` that of all. */
function toSecret(text: string): [string, string] {
  const [, scheme, secret] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  return scheme === undefined || secret === undefined ? ['*', text] : [scheme, secret]
}

/** The servers of a downloaded document may be relative to its URL. */
function resolvedServer(text: string, source: string): string | undefined {
  const [, url] = /["']?servers["']?\s*:\s*(?:\[\s*\{|-)\s*["']?url["']?\s*:\s*["']?(\/[^"'\s,}]*)/.exec(text) ?? []
  return url === undefined ? undefined : new URL(url, source).href
}

const downloadMs = 60_000

async function download(url: string, signal: AbortSignal): Promise<string> {
  const refuse = (why: string, cause?: unknown) =>
    new TooldexError('FILE_REFUSED', `${url} ${why}.`, {
      hint: 'Check the URL, or download the document first.',
      cause,
    })
  try {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(downloadMs)])
    const response = await fetch(url, { signal: ended })
    if (!response.ok) throw refuse(`responded with status ${response.status}`)
    return await untilAborted(readDocument(response, refuse), ended)
  } catch (error) {
    throw error instanceof TooldexError ? error : refuse('could not be downloaded', error)
  }
}

async function readDocument({ body }: Response, refuse: (why: string) => TooldexError): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > bundleLimits.documentBytes) throw refuse(`is larger than ${bundleLimits.documentBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
