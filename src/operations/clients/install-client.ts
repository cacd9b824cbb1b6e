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
import { ensureFolder } from '../../base/file-system.ts'
import { processEnv } from '../../rules/settings.ts'
import { lineDiff } from '../../versions/describe-diff.ts'
import { defineOperation } from '../operation.ts'
import {
  type Client,
  type ClientName,
  type ClientScope,
  clientFile,
  clientNames,
  clientScopes,
  clients,
  scopeOf,
} from './client-files.ts'

const input = {
  client: z.enum(clientNames),
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/)
    .default('tooldex'),
  scope: z.enum(clientScopes).optional(),
  dryRun: z.boolean().default(false),
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
  input: z.object({
    ...input,
    /** The command that the client starts the server with; absent with a URL. */
    command: z.array(z.string()).min(1).optional(),
    /** The MCP endpoint that the client connects to instead. */
    url: z.url().optional(),
    /** The environment variable of the key for the endpoint; without one the client signs in with OAuth. */
    keyVariable: z.string().optional(),
    /** Environment variables that the client sets for the server. */
    env: z.record(z.string(), z.string()).optional(),
  }),
  output,
  handle({ command = [], env, url, keyVariable, ...target }) {
    const [program = '', ...args] = command
    const started = { command: program, args, ...(env === undefined ? {} : { env }) }
    if (url !== undefined) requireHttp(target.client)
    const entry = url === undefined ? started : { url, keyVariable }
    return editFile(target, (client, text, file) => client.set(text, target.name, entry, file))
  },
})

/** Removes Tooldex from the config of an MCP client. */
export const uninstallClient = defineOperation({
  name: 'clients.uninstall',
  summary: 'Remove Tooldex from the config file of an MCP client, keeping a backup.',
  scope: 'admin',
  input: z.object(input),
  output,
  async handle(target) {
    const edited = await editFile(target, (client, text, file) => client.remove(text, target.name, file))
    return { ...edited, next: `${edited.client} no longer starts it; end sessions that still run it.` }
  },
})

function requireHttp(id: ClientName): void {
  const { hasHttp, title }: Client = clients[id]
  if (hasHttp) return
  throw new TooldexError('USAGE', `The config file of ${title} has no servers over HTTP.`, {
    hint: `Omit --http: ${title} then starts tooldex, which connects to the server.`,
  })
}

interface Target {
  readonly client: ClientName
  readonly scope?: ClientScope | undefined
  readonly dryRun: boolean
}

async function editFile(
  { client: id, scope, dryRun }: Target,
  edit: (client: Client, text: string, file: string) => Promise<string>,
): Promise<z.output<typeof output>> {
  const client: Client = clients[id]
  const environment = { home: homedir(), cwd: process.cwd(), platform: process.platform, env: processEnv }
  const named = clientFile(id, scopeOf(id, scope), environment)
  // A symbolic link (such as dotfiles in a repository) stays one: its target is changed.
  const file = existsSync(named) ? realpathSync(named) : named
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const after = await edit(client, before, file)
  const changed = after !== before
  const backup = changed && !dryRun ? replaceFile(file, after) : null
  return { client: client.title, file, changed, backup, diff: [...lineDiff(before, after)], next: client.next }
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
