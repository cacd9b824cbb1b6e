import {
  copyFileSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { ensureFolder } from '../../base/home-files.ts'
import { processEnv } from '../../rules/settings.ts'
import { diffLines } from '../../versions/describe-diff.ts'
import { defineOperation } from '../operation.ts'
import {
  type Client,
  type ClientName,
  type ClientScope,
  chooseClientScope,
  clientFilePath,
  clientNames,
  clientScopes,
  clients,
  type ServerEntry,
} from './client-files.ts'

const input = {
  client: z.enum(clientNames),
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/)
    .default('tooldex'),
  scope: z.enum(clientScopes).optional(),
}
const dryRun = z.boolean().default(false)
const entryInput = {
  ...input,
  /** The command that the client starts the server with; absent with a URL. */
  command: z.array(z.string()).min(1).optional(),
  /** The MCP endpoint that the client connects to instead. */
  url: z.url().optional(),
  /** The environment variable of the key for the endpoint; without one the client signs in with OAuth. */
  keyVariable: z.string().optional(),
  /** Environment variables that the client sets for the server. */
  env: z.record(z.string(), z.string()).optional(),
}
const output = z.object({
  client: z.string(),
  file: z.string(),
  changed: z.boolean(),
  backup: z.string().nullable(),
  diff: z.array(z.string()),
  next: z.string(),
})

/** Adds Tooldex to the config of an MCP client. */
export const installClient = defineOperation({
  name: 'clients.install',
  summary: 'Add Tooldex to the config file of an MCP client, keeping a backup.',
  scope: 'admin',
  input: z.object({ ...entryInput, dryRun }),
  output,
  handle(target) {
    const entry = toEntry(target)
    return editFile(target, (client, text, file) => client.set(text, target.name, entry, file))
  },
})

/** Renders what `clients.install` would write into an empty config. */
export const exportClient = defineOperation({
  name: 'clients.export',
  summary: 'Render the config with which an MCP client reaches Tooldex, without reading or writing its file.',
  scope: 'read',
  input: z.object(entryInput),
  output: z.object({ client: z.string(), file: z.string(), config: z.string(), next: z.string() }),
  async handle(target) {
    const entry = toEntry(target)
    const { client, file } = locate(target)
    return { client: client.title, file, config: await client.set('', target.name, entry, file), next: client.next }
  },
})

/** Removes Tooldex from the config of an MCP client. */
export const uninstallClient = defineOperation({
  name: 'clients.uninstall',
  summary: 'Remove Tooldex from the config file of an MCP client, keeping a backup.',
  scope: 'admin',
  input: z.object({ ...input, dryRun }),
  output,
  async handle(target) {
    const edited = await editFile(target, (client, text, file) => client.remove(text, target.name, file))
    return { ...edited, next: `${edited.client} no longer starts it; end sessions that still run it.` }
  },
})

function requireHttp(id: ClientName, keyVariable: string | undefined): void {
  const { http, title }: Client = clients[id]
  if (http === 'key' || (http === 'oauth' && keyVariable === undefined)) return
  const started = `${title} then starts tooldex, which connects to the server.`
  if (http === 'none')
    throw new TooldexError('USAGE', `The config file of ${title} has no servers over HTTP.`, {
      hint: `Omit --http and --oauth: ${started}`,
    })
  throw new TooldexError('USAGE', `${title} has no variables in its config file, which would contain the key.`, {
    hint: `Use --oauth, or omit --http: ${started}`,
  })
}

type EntryTarget = z.output<z.ZodObject<typeof entryInput>>

function toEntry({ client, command = [], url, keyVariable, env }: EntryTarget): ServerEntry {
  const [program = '', ...args] = command
  if (url === undefined) return { command: program, args, ...(env === undefined ? {} : { env }) }
  requireHttp(client, keyVariable)
  return { url, keyVariable }
}

interface Target {
  readonly client: ClientName
  readonly scope?: ClientScope | undefined
}

function locate({ client: id, scope }: Target): { readonly client: Client; readonly file: string } {
  const environment = { home: homedir(), cwd: process.cwd(), platform: process.platform, env: processEnv }
  return { client: clients[id], file: clientFilePath(id, chooseClientScope(id, scope), environment) }
}

async function editFile(
  { dryRun, ...target }: Target & { readonly dryRun: boolean },
  edit: (client: Client, text: string, file: string) => Promise<string>,
): Promise<z.output<typeof output>> {
  const { client, file: named } = locate(target)
  // A symbolic link (such as dotfiles in a repository) stays one: its target is changed.
  const file = existsSync(named) ? realpathSync(named) : named
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const after = await edit(client, before, file)
  const changed = after !== before
  const backup = changed && !dryRun ? replaceFile(file, after) : null
  return { client: client.title, file, changed, backup, diff: [...diffLines(before, after)], next: client.next }
}

/** Writes a temporary file and renames it, so that a crash never leaves a partial file. */
function replaceFile(file: string, text: string): string | null {
  const temporary = `${file}.tooldex-${process.pid}`
  try {
    ensureFolder(dirname(file))
    const backup = existsSync(file) ? freeName(`${file}.backup`) : null
    if (backup !== null) copyFileSync(file, backup)
    const mode = existsSync(file) ? statSync(file).mode & 0o777 : 0o600
    writeFileSync(temporary, text, { mode })
    renameSync(temporary, file)
    return backup
  } catch (cause) {
    rmSync(temporary, { force: true })
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException
    throw new TooldexError('FILE_REFUSED', `${file} could not be written (${code}).`, {
      hint: 'Check its folder.',
      cause,
    })
  }
}

function freeName(path: string): string {
  let name = path
  for (let count = 2; existsSync(name); count++) name = `${path}-${count}`
  return name
}
