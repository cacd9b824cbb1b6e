import { showInvisible } from '../base/invisible-characters.ts'
import { hashJson } from '../base/json-text.ts'
import { omitUndefined } from '../base/json-values.ts'
import { type McpServer, sandboxOfServer } from '../contract/mcp-server.ts'
import { isSecretHeader, isSecretName } from './secret-names.ts'

/** The parts of a definition that decide what is started or contacted, and with which credentials. */
function approvedPart(server: McpServer): object {
  if (!('command' in server)) {
    const { url, headers, allowPrivate, oauth } = server
    // A definition without settings of its sign-in has the hash that it had before there were any.
    return { url, headers, allowPrivate, ...omitUndefined({ oauth }) }
  }
  const { command, args, env, cwd = null, isolation, folders, network } = server
  // A definition without a sandbox has the hash that it had before there was one.
  return { command, args, env, cwd, ...omitUndefined({ isolation, folders, network }) }
}

/** The hash by which a command or URL is approved; settings such as timeouts are no part of it. */
export const approvalHash = (server: McpServer): string => hashJson(approvedPart(server))

/**
 * The exact command as a line of a shell with its folder and variables, or the URL with its headers; never shortened, and with
 * invisible characters escaped. Variables decide what a program does as much as its arguments.
 */
export function approvedCommand(server: McpServer): string {
  if (!('command' in server)) {
    const { url, headers, allowPrivate, oauth } = server
    const sent = Object.entries(headers).map(([name, value]) => `-H ${quoteWord(`${name}: ${value}`)}`)
    const signIn = oauth === undefined ? [] : [`(sign-in: ${JSON.stringify(oauth)})`]
    return showInvisible([url, ...sent, ...(allowPrivate ? ['(private addresses allowed)'] : []), ...signIn].join(' '))
  }
  const { command, args, env, cwd, folders = [], network = false } = server
  const level = sandboxOfServer(server)
  const shown = folders.length === 0 ? 'no folders' : `folders ${folders.map(quoteWord).join(' ')}`
  const sandbox =
    level === undefined
      ? []
      : [`(${level === 'best' ? 'in a sandbox' : level}, ${network ? 'with' : 'no'} network, ${shown})`]
  const folder = cwd === undefined ? [] : ['cd', quoteWord(cwd), '&&']
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoteWord(value)}`)
  return showInvisible([...folder, ...variables, ...[command, ...args].map(quoteWord), ...sandbox].join(' '))
}

const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

const reference =
  /^(?:(Bearer|Basic|Token) )?(secret:[A-Za-z0-9_.-]{1,100}|env:[A-Za-z_][A-Za-z0-9_]*|file:[^\0\r\n]+)$/

/** The secret reference in a value and the scheme before it; undefined for a literal value. */
export function findSecretReference(
  value: string,
): { readonly before: string; readonly reference: string } | undefined {
  const [, scheme, found] = reference.exec(value) ?? []
  return found === undefined ? undefined : { before: scheme === undefined ? '' : `${scheme} `, reference: found }
}

/** The variables and headers of a server with the name of a secret whose value is literal, as paths into the definition. */
export function findLiteralSecrets(server: McpServer): readonly (readonly [kind: 'env' | 'headers', name: string])[] {
  const kind = 'command' in server ? 'env' : 'headers'
  const values = 'command' in server ? server.env : server.headers
  const isSecret = kind === 'env' ? isSecretName : isSecretHeader
  return Object.entries(values)
    .filter(([name, value]) => value !== '' && isSecret(name) && findSecretReference(value) === undefined)
    .map(([name]) => [kind, name] as const)
}

/** The owner of the sign-in that a caller uses at a server: the caller, or nobody where one is shared. */
export const ownerOf = (server: McpServer, actor: string): string =>
  'url' in server && server.oauth?.mode === 'caller' ? actor : ''

/** Whether a sign-in is one that the server still has: a shared one, or one of each caller. */
export const isOwner = ({ caller }: { readonly caller: string }, server: McpServer): boolean =>
  (caller === '') === (ownerOf(server, 'anybody') === '')
