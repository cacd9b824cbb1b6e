import { TooldexError } from '../../../base/errors.ts'
import { ServerJson, ServerJsonName, serverJsonSchema } from '../../../contract/server-json.ts'

/** The limit of the format for titles and descriptions. */
const maxText = 100

/** What a `server.json` says about a toolset. */
interface ServedToolset {
  /** The URL of the server of Tooldex. */
  readonly server: string
  /** All tools where absent. */
  readonly toolset?: { readonly name: string; readonly description?: string | undefined } | undefined
  /** The name in the MCP registry; made of the host where absent. */
  readonly name?: string | undefined
  readonly version: string
}

/** The `server.json` of a toolset: a remote that clients reach with a key of their own. */
export function writeServerJson({ server, toolset, version, ...named }: ServedToolset): object {
  const url = `${server.replace(/\/+$/, '')}/mcp${toolset === undefined ? '' : `/${encodeURIComponent(toolset.name)}`}`
  const title = toolset === undefined ? 'Tooldex' : `Tooldex: ${toolset.name}`
  const description = toolset?.description ?? `The tools of ${title}`
  const key = { description: 'A key of Tooldex with the scope call', isRequired: true, isSecret: true }
  const document = {
    $schema: serverJsonSchema,
    name: nameOf(named.name ?? nameOfHost(server, toolset?.name ?? 'tools')),
    title: title.slice(0, maxText),
    description: toLine(description),
    version,
    remotes: [
      {
        type: 'streamable-http',
        url,
        headers: [
          { name: 'Authorization', value: 'Bearer {key}', isRequired: true, isSecret: true, variables: { key } },
        ],
      },
    ],
  }
  ServerJson.parse(document)
  return document
}

function nameOf(name: string): string {
  const parsed = ServerJsonName.safeParse(name)
  if (parsed.success) return name
  throw new TooldexError('USAGE', `'${name}' is not a name of the MCP registry.`, {
    hint: 'Write a reversed domain, a slash and a name, such as --name com.example/weather.',
  })
}

/** `tools.example.com` as `com.example.tools`; an address of this machine is nobody's domain. */
function nameOfHost(server: string, name: string): string {
  const { hostname } = new URL(server)
  if (/^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*\.[a-z]{2,}$/i.test(hostname))
    return `${hostname.split('.').reverse().join('.')}/${name}`
  throw new TooldexError('USAGE', `${hostname} is not a domain that a name in the MCP registry begins with.`, {
    hint: `Name it, such as --name com.example/${name}.`,
  })
}

function toLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= maxText ? line : `${line.slice(0, maxText - 1)}…`
}
