import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { HttpServer, type McpServer, StdioServer } from '../../contract/mcp-server.ts'
import { OAuthSource } from '../../contract/sign-in.ts'
import type { Caller, Stores } from '../../contract/stores.ts'
import { describedParse, describeZodIssue } from '../../diagnostics/zod-issues.ts'
import { isSecretHeader, isSecretName } from '../../rules/secret-names.ts'
import { findSecretReference } from '../../rules/server-definition.ts'
import type { OperationContext } from '../operation.ts'

const { command, args, env, cwd, isolation, folders, network } = StdioServer.shape
const { timeoutMs, connectTimeoutMs, idleMs, passThrough, clientRequests } = StdioServer.shape
const { url, headers, allowPrivate } = HttpServer.shape
const { mode, clientId, scope } = OAuthSource.shape

/** The fields that define a server: a command, or a URL. */
export const serverFields = {
  command: command.optional().describe('The program of a server that communicates over stdin and stdout.'),
  args: args.unwrap().optional().describe('The arguments of the program.'),
  env: env
    .unwrap()
    .optional()
    .describe(
      'Variables of the program, literal or as secret:NAME; it inherits no others but PATH, HOME and the locale.',
    ),
  cwd: cwd.describe('The working directory of the program.'),
  isolation: isolation.describe(
    'The sandbox of the program: isolated or confined. limited is none: the rights of the user of the server.',
  ),
  folders: folders.describe(
    'Folders of the machine that its sandbox shows, each with :ro or :rw; read-only by default.',
  ),
  network: network.describe('Whether its sandbox has the network of the machine; no by default.'),
  url: url.optional().describe('The URL of a server that is called over HTTP.'),
  type: z
    .enum(['http', 'sse'])
    .optional()
    .describe('The transport of a URL: http, or the older sse, which is also found out at the first start.'),
  headers: headers
    .unwrap()
    .optional()
    .describe('Headers of each request, literal or as secret:NAME, optionally after Bearer, Basic or Token.'),
  allowPrivate: allowPrivate.unwrap().optional().describe('Whether the URL may have a private address.'),
  oauth: z
    .strictObject({
      mode: mode.unwrap().optional().describe('shared: an administrator signs in for all. caller: each caller does.'),
      clientId: clientId.describe('The client that was registered by hand; otherwise Tooldex registers one.'),
      clientSecret: z
        .string()
        .min(1)
        .max(8192)
        .optional()
        .describe('The secret of that client, literal or as secret:NAME.'),
      scope: scope.describe('The scopes to request; those that the server names by default.'),
    })
    .optional()
    .describe('The sign-in at a server with a URL; one that requires a shared sign-in needs no settings.'),
  timeoutMs: timeoutMs.describe('The timeout of calls.'),
  connectTimeoutMs: connectTimeoutMs.unwrap().optional().describe('The timeout of the start and the handshake.'),
  idleMs: idleMs.unwrap().optional().describe('The time without calls after which the server is stopped.'),
  passThrough: passThrough.unwrap().optional().describe('Whether clients are offered its prompts and resources.'),
  clientRequests: clientRequests
    .unwrap()
    .optional()
    .describe('Requests of the server that are passed to a client that can answer them; none by default.'),
}
const ServerInput = z.object(serverFields)
// A literal secret is replaced by a reference before the definition is stored.
const UrlInput = HttpServer.extend({ oauth: OAuthSource.extend({ clientSecret: z.string().optional() }).optional() })
export type ServerInput = z.infer<typeof ServerInput>

const ofPrograms = ['args', 'env', 'cwd', 'isolation', 'folders', 'network'] as const
const ofUrls = ['type', 'headers', 'allowPrivate', 'oauth'] as const

/** The definition of a server from its fields. */
export function toServer(input: ServerInput): McpServer {
  if ((input.command === undefined) === (input.url === undefined))
    throw invalid('Pass either command or url.', input.command === undefined ? '/command' : '/url')
  const isProgram = input.command !== undefined
  const misplaced = (isProgram ? ofUrls : ofPrograms).find((field) => input[field] !== undefined)
  if (misplaced !== undefined)
    throw invalid(`${misplaced} is not a field of a server with a ${isProgram ? 'command' : 'URL'}.`, `/${misplaced}`)
  const { isolation: level, folders: shown, network: hasNetwork } = input
  if (level === 'limited' && (shown !== undefined || hasNetwork !== undefined))
    throw invalid('folders and network are of a sandbox; a program with isolation limited has none.', '/isolation')
  const parsed = (isProgram ? StdioServer : UrlInput).safeParse(input, describedParse)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalid(`${issue === undefined ? 'The server is not valid' : describeZodIssue(issue).message}.`, '')
}

const invalid = (message: string, pointer: string): TooldexError =>
  new TooldexError('INPUT_INVALID', message, {
    problems: [{ severity: 'error', message, pointer }],
    hint: 'Compare the fields with the reference of sources.add.',
  })

/** A definition without literal secrets, and the secrets to store. */
export interface MovedSecrets {
  readonly server: McpServer
  readonly secrets: ReadonlyMap<string, string>
}

/** Moves literal values of variables and headers with the name of a secret, or with one of these names, to stored secrets. */
export function moveSecrets(source: string, server: McpServer, secretNames: readonly string[] = []): MovedSecrets {
  const secrets = new Map<string, string>()
  const move = (values: Readonly<Record<string, string>>, isSecret: (name: string) => boolean) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        const isMoved = isSecret(name) || secretNames.includes(name)
        if (value === '' || !isMoved || findSecretReference(value) !== undefined) return [name, value]
        const [, scheme = '', secret = value] = /^((?:Bearer|Basic|Token) )(.+)$/i.exec(value) ?? []
        const stored = `${source}.${name.replaceAll(/[^A-Za-z0-9_.-]/g, '_')}`.slice(0, 100)
        secrets.set(stored, secret)
        return [name, `${scheme === '' ? '' : canonicalScheme(scheme)}secret:${stored}`]
      }),
    )
  const moved =
    'command' in server
      ? { ...server, env: move(server.env, isSecretName) }
      : { ...server, headers: move(server.headers, isSecretHeader), ...moveClientSecret(source, server, secrets) }
  return { server: moved, secrets }
}

/** The secret of a registered client as a reference. */
function moveClientSecret(source: string, { oauth }: HttpServer, secrets: Map<string, string>) {
  const secret = oauth?.clientSecret
  if (secret === undefined || findSecretReference(secret)?.before === '') return {}
  const stored = `${source}.OAUTH_CLIENT_SECRET`
  secrets.set(stored, secret)
  return { oauth: { ...oauth, mode: oauth?.mode ?? ('shared' as const), clientSecret: `secret:${stored}` } }
}

/** The scheme as references have it: `Bearer `. */
const canonicalScheme = (scheme: string): string => scheme.charAt(0).toUpperCase() + scheme.slice(1).toLowerCase()

/** Stores moved secrets; a secret that is stored already is never reused or replaced. */
export async function storeSecrets(
  { registry }: OperationContext<'registry'>,
  stores: Stores,
  caller: Caller,
  secrets: MovedSecrets['secrets'],
): Promise<void> {
  for (const [name, value] of secrets) {
    if ((await stores.secrets.find(caller.workspace, name)) !== undefined)
      throw new TooldexError('NAME_TAKEN', `There is already a secret '${name}'.`, {
        hint: `Pass secret:${name} instead of the value to use it, or delete the stored secret first.`,
      })
    if (registry.box === undefined)
      throw new TooldexError('SECRET_UNAVAILABLE', 'Secrets cannot be stored here.', {
        hint: 'Send the request to a server.',
      })
    await stores.secrets.put(caller, name, registry.box.seal(value))
  }
}
