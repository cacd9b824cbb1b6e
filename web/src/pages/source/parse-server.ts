import type { OperationInput } from 'tooldex/client'

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
