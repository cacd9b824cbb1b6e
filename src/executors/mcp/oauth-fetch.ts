import type { FetchLike } from '@modelcontextprotocol/client'
import { Agent, fetch } from 'undici'
import { TooldexError } from '../../base/errors.ts'
import type { HttpServer } from '../../contract/mcp-server.ts'
import { checkHostAddress, publicLookupBut } from '../network/guard-address.ts'

const requestMs = 15_000
const maxBytes = 128 * 1024
const agentOptions = { headersTimeout: requestMs, bodyTimeout: requestMs, maxHeaderSize: 32 * 1024, connections: 4 }

/** Requests of an OAuth client: bounded, to public hosts with TLS, without redirects to another origin. */
export interface OAuthRequests {
  readonly fetch: FetchLike
  /** The status of the last response; 0 before the first. */
  readonly status: () => number
  close(): Promise<void>
}

/** Only the host of the server itself, whose URL was approved, may be private or without TLS. */
export function checkOAuthUrl(server: HttpServer, text: string | URL): URL {
  if (!URL.canParse(String(text))) throw refused('an authorization server named an invalid URL.')
  const url = new URL(text)
  const own = new URL(server.url)
  const isOwnHost = url.hostname === own.hostname
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isOwnHost && own.protocol === 'http:'))
    throw refused(`${url.protocol}//${url.host} is not encrypted.`)
  if (url.username !== '' || url.password !== '') throw refused(`a URL of ${url.host} has a password in it.`)
  if (!(isOwnHost && server.allowPrivate)) checkHostAddress(url.hostname)
  return url
}

const refused = (what: string): TooldexError =>
  new TooldexError('ADDRESS_REFUSED', `The sign-in was refused: ${what}`, {
    hint: 'Ask the operator of the MCP server to correct its OAuth metadata.',
  })

/** Opens the requests for the sign-in at a server. */
export function openOAuthRequests(server: HttpServer): OAuthRequests {
  const privateHost = server.allowPrivate ? new URL(server.url).hostname : undefined
  const agent = new Agent({ ...agentOptions, connect: { lookup: publicLookupBut(privateHost), timeout: 10_000 } })
  const request = fetch as unknown as (url: URL, init: object) => Promise<Response>
  let status = 0
  return {
    status: () => status,
    async fetch(target, init) {
      const url = checkOAuthUrl(server, target)
      const timeout = AbortSignal.timeout(requestMs)
      const signal = init?.signal ? AbortSignal.any([timeout, init.signal]) : timeout
      // The client follows redirects within an origin only, if it sees them.
      const response = await request(url, { ...init, signal, dispatcher: agent, redirect: 'manual' })
      status = response.status
      if (response.body === null) return response
      const { statusText, headers } = response
      if (/event-stream/i.test(headers.get('content-type') ?? '')) {
        await response.body.cancel()
        return new Response(null, { status: response.status, statusText, headers })
      }
      return new Response(await readBounded(response.body), { status: response.status, statusText, headers })
    },
    close: () => agent.destroy(),
  }
}

async function readBounded(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > maxBytes) throw new TooldexError('OUTPUT_LIMIT', `The response is larger than ${maxBytes} bytes.`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}
