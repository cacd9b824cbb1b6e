import { parse } from 'smol-toml'
import { TooldexError } from '../../base/errors.ts'
import { type Environment, expandVariables } from '../../base/expand-variables.ts'
import { isObject } from '../../base/json-values.ts'
import { firstLine } from '../../diagnostics/sentences.ts'
import { readJsonc } from '../../documents/read-jsonc.ts'
import { isSecretName } from '../../rules/secret-names.ts'
import { isOwnVariable } from '../../rules/settings.ts'
import type { ServerInput } from '../sources/server-input.ts'

/** An MCP server in the file of a client, as the fields of a source. */
export interface ClientServer {
  /** Its name in the file. */
  readonly original: string
  /** The name of the source. */
  readonly name: string
  readonly file: string
  readonly fields?: ServerInput
  /** The reason why it cannot be imported. */
  readonly skipped?: string
}

interface ReadOptions {
  readonly file: string
  readonly env: Environment
  /** The project whose servers of a file with several projects are read, too. */
  readonly cwd?: string | undefined
}

/** The servers in the file of any client. */
export function readClientServers(text: string, { file, env, cwd }: ReadOptions): readonly ClientServer[] {
  const document = file.endsWith('.toml') ? readToml(text, file) : readJsonc(text, file)
  const root = isObject(document) ? document : {}
  const project = isObject(root.projects) && cwd !== undefined ? root.projects[cwd] : undefined
  const lists = [root, root.mcp, project].flatMap((place) =>
    isObject(place) ? serverKeys.flatMap((key) => (isObject(place[key]) ? [place[key]] : [])) : [],
  )
  return lists.flatMap((servers) =>
    Object.entries(servers).map(([original, entry]) => ({
      original,
      name: toSourceName(original),
      file,
      ...read(entry, env),
    })),
  )
}

function readToml(text: string, file: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    throw new TooldexError('CLIENT_CONFIG_INVALID', `${file} is not valid TOML: ${firstLine((error as Error).message)}`)
  }
}

/** A name with the characters that names of sources may have. */
export function toSourceName(original: string): string {
  const plain = original
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/_{2,}/g, '_')
    .replace(/^[-_]+/, '')
  return (/^[A-Za-z]/.test(plain) ? plain : `mcp-${plain}`).slice(0, 63).replace(/[-_]+$/, '')
}

type Entry = Readonly<Record<string, unknown>>

/** Thrown for an entry that cannot be imported. */
class Skipped extends Error {}

function read(entry: unknown, env: Environment): Pick<ClientServer, 'fields' | 'skipped'> {
  try {
    if (!isObject(entry)) throw new Skipped('it is not an object')
    if (entry.disabled === true || entry.enabled === false) throw new Skipped('it is disabled')
    return {
      fields: isObject(entry.command)
        ? toProgram({ ...entry, ...entry.command, command: entry.command.path }, env)
        : toFields(entry, env),
    }
  } catch (thrown) {
    if (thrown instanceof Skipped) return { skipped: thrown.message }
    throw thrown
  }
}

function toFields(entry: Entry, env: Environment): ServerInput {
  if (entry.command !== undefined) return toProgram(entry, env)
  const url = urlFields.map((field) => entry[field] ?? undefined).find((value) => value !== undefined)
  if (typeof url !== 'string') throw new Skipped('it has neither a command nor a URL')
  const headers = {
    ...toValues({ ...textsOf(entry.headers), ...textsOf(entry.http_headers) }, env),
    ...mapValues(textsOf(entry.env_http_headers), toReference),
    ...(typeof entry.bearer_token_env_var === 'string'
      ? { Authorization: `Bearer ${toReference(entry.bearer_token_env_var)}` }
      : {}),
  }
  const type = entry.type === 'sse' ? { type: 'sse' as const } : {}
  return { url: expand(url, env), ...type, ...(Object.keys(headers).length === 0 ? {} : { headers }) }
}

function toProgram({ command, args, env: variables, cwd, ...entry }: Entry, env: Environment): ServerInput {
  if (typeof command !== 'string' || command === '') throw new Skipped('its command is not a text')
  const words = Array.isArray(args) ? args.map(String) : []
  if (isTooldex(command, words)) throw new Skipped('it is Tooldex itself')
  const values = toValues(textsOf(variables), env)
  return {
    command: expand(command, env),
    args: words.map((word) => expand(word, env)),
    ...(Object.keys(values).length === 0 ? {} : { env: values }),
    ...(typeof cwd === 'string' ? { cwd: expand(cwd, env) } : {}),
    ...sandboxFields(entry, env),
  }
}

const levels = ['isolated', 'confined', 'limited'] as const

/** The keys of Tooldex for the sandbox of a program, which clients ignore. */
function sandboxFields({ isolation, folders, network }: Entry, env: Environment) {
  const level = levels.find((each) => each === isolation)
  if (isolation !== undefined && level === undefined) throw new Skipped('its isolation is not a level')
  return {
    ...(level === undefined ? {} : { isolation: level }),
    ...(Array.isArray(folders) ? { folders: folders.map((folder) => expand(String(folder), env)) } : {}),
    ...(typeof network === 'boolean' ? { network } : {}),
  }
}

/** Whether a command is one that `tooldex install` writes, or an equivalent one. */
function isTooldex(command: string, words: readonly string[]): boolean {
  const [script = '', subcommand] = words
  if (subcommand === 'run' && /[\\/]dist[\\/]app[\\/]main\.js$/.test(script)) return true
  return /(^|[\\/])tooldex(\.cmd)?$/.test(command) || words.some((word) => /(^|[\\/])tooldex(@[\w.-]+)?$/.test(word))
}

const textsOf = (value: unknown): Record<string, string> =>
  isObject(value) ? mapValues(value as Record<string, unknown>, String) : {}

const mapValues = <Value>(values: Record<string, Value>, map: (value: Value) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))

const toValues = (values: Record<string, string>, env: Environment): Record<string, string> =>
  mapValues(values, (value) => toValue(value, env))

/** A value that is only a variable stays a reference to it; other variables are replaced by their present values. */
function toValue(value: string, env: Environment): string {
  const [, scheme = '', braced, bare] =
    /^((?:Bearer|Basic|Token) )?(?:\$\{(?:env:)?([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*))$/.exec(value) ?? []
  const name = braced ?? bare
  return name === undefined ? expand(value, env) : `${scheme}${toReference(name)}`
}

function toReference(variable: string): string {
  if (isOwnVariable(variable)) throw new Skipped(`the variable ${variable} belongs to Tooldex`)
  return `env:${variable}`
}

/** A text with the variables of editors and shells replaced. */
function expand(text: string, env: Environment): string {
  const [input] = /\$\{(?:input|command|workspaceFolder)[^}]*\}/.exec(text) ?? []
  if (input !== undefined) throw new Skipped(`only its client can fill ${input}`)
  const braced = text.replaceAll('${env:', '${').replaceAll('${userHome}', '${HOME}')
  const names = Array.from(braced.matchAll(/\$\{(\w+)/g), ([, name = '']) => name)
  const own = names.find(isOwnVariable)
  if (own !== undefined) throw new Skipped(`the variable ${own} belongs to Tooldex`)
  // The definition is stored, and shown to administrators.
  const secret = names.find(isSecretName)
  if (secret !== undefined)
    throw new Skipped(`${secret} is part of a longer text; pass it as a whole variable or header`)
  const { text: expanded, missing } = expandVariables(braced, env, 'braced')
  if (missing.length > 0) throw new Skipped(`the variable ${missing.join(', ')} is not set`)
  return expanded
}

/** The keys of the servers in the files of clients. */
const serverKeys = ['mcpServers', 'servers', 'context_servers', 'mcp_servers'] as const
export type ServerKey = (typeof serverKeys)[number]

/** The fields of the URL in an entry; the first that an entry has is in force. */
const urlFields = ['httpUrl', 'serverUrl', 'url'] as const
export type UrlField = (typeof urlFields)[number]
