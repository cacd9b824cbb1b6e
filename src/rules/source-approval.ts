import { hashJson } from '../base/json-text.ts'
import { showInvisible } from '../base/visible-text.ts'
import type { McpServer } from '../contract/mcp-server.ts'

/** The parts of a definition that decide what is started or contacted, and with which credentials. */
function approvedPart(server: McpServer): object {
  if (!('command' in server)) {
    const { url, headers, allowPrivate } = server
    return { url, headers, allowPrivate }
  }
  const { command, args, env, cwd = null } = server
  return { command, args, env, cwd }
}

/** The hash by which a command or URL is approved; settings such as timeouts are no part of it. */
export const approvalHash = (server: McpServer): string => hashJson(approvedPart(server))

/**
 * The exact command as a line of a shell with its folder and variables, or the URL with its headers; never shortened, and with
 * invisible characters escaped. Variables decide what a program does as much as its arguments.
 */
export function approvedCommand(server: McpServer): string {
  if (!('command' in server)) {
    const { url, headers, allowPrivate } = server
    const sent = Object.entries(headers).map(([name, value]) => `-H ${quoteWord(`${name}: ${value}`)}`)
    return showInvisible([url, ...sent, ...(allowPrivate ? ['(private addresses allowed)'] : [])].join(' '))
  }
  const { command, args, env, cwd } = server
  const folder = cwd === undefined ? [] : ['cd', quoteWord(cwd), '&&']
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoteWord(value)}`)
  return showInvisible([...folder, ...variables, ...[command, ...args].map(quoteWord)].join(' '))
}

const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
