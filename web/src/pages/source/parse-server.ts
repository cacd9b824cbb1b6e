import type { OperationInput, OperationOutput } from 'tooldex/client'

/** The fields of an MCP server to add. */
export type NewServer = OperationInput<'sources.add'>

/** The fields of the form, as texts. */
export interface ServerForm {
  readonly name: string
  readonly kind: 'command' | 'url'
  readonly command: string
  /** One argument per line. */
  readonly args: string
  /** `NAME=value` per line. */
  readonly env: string
  readonly url: string
  /** `Name: value` per line. */
  readonly headers: string
  readonly allowPrivate: boolean
}

const linesOf = (text: string): readonly string[] => text.split(/\r?\n/).filter((line) => line.trim() !== '')

/** The pairs of lines such as `NAME=value`; throws on a line without the separator. */
function pairsOf(text: string, separator: string, what: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf(separator)
      if (at <= 0)
        throw new Error(`${what} must have the form NAME${separator}value on each line: ${line.slice(0, 80)}`)
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}

type Server = NonNullable<OperationOutput<'sources.get'>['server']>

/** The form of a stored server. */
export const toServerForm = (name: string, server: Server): ServerForm => ({
  name,
  kind: server.url === undefined ? 'command' : 'url',
  command: server.command ?? '',
  args: (server.args ?? []).join('\n'),
  env: Object.entries(server.env ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join('\n'),
  url: server.url ?? '',
  headers: Object.entries(server.headers ?? {})
    .map(([key, value]) => `${key}: ${value}`)
    .join('\n'),
  allowPrivate: server.allowPrivate === true,
})

/** The fields that a form changes; emptied ones are sent, too, and all others stay exactly as they are stored. */
export function toServerChange(form: ServerForm, start: ServerForm): OperationInput<'sources.change'> {
  const { name, ...fields } = toServer(form)
  if (form.kind !== start.kind) return { name, ...fields }
  const empty = form.kind === 'url' ? { headers: {}, allowPrivate: false } : { args: [], env: {} }
  const changed = Object.entries({ ...empty, ...fields }).filter(([field]) => {
    const key = field as keyof ServerForm
    return form[key] !== start[key]
  })
  return { name, ...Object.fromEntries(changed) }
}

/** The server of a form; throws with the line that is wrong. */
export function toServer(form: ServerForm): NewServer {
  const name = form.name.trim()
  if (form.kind === 'url') {
    const headers = pairsOf(form.headers, ':', 'Headers')
    return {
      name,
      url: form.url.trim(),
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...(form.allowPrivate ? { allowPrivate: true } : {}),
    }
  }
  const [args, env] = [linesOf(form.args), pairsOf(form.env, '=', 'Variables')]
  return {
    name,
    command: form.command.trim(),
    ...(args.length === 0 ? {} : { args: [...args] }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
  }
}
