import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server'
import { toTooldexError } from '../../base/errors.ts'
import type { RegistryClient } from '../../operations/registry-client/registry-client.ts'

/** What the address of a large output begins with. */
export const resultScheme = 'tooldex://results/'

/** Large outputs can be read as resources; none is listed, because each belongs to the call that made it. */
export function serveResults(server: Server, client: RegistryClient): void {
  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('resources/read', async ({ params }, { mcpReq: { signal } }) => {
    const { uri } = params
    if (!uri.startsWith(resultScheme)) throw refuse(`Unknown resource: ${uri.slice(0, 200)}`)
    try {
      // Loaded with the first one: most connections read none.
      const { readWholeResult } = await import('../../operations/runs/results.ts')
      const handle = uri.slice(resultScheme.length)
      const { mediaType, content } = await client.invoke(readWholeResult, { handle }, { signal })
      return { contents: [{ uri, mimeType: mediaType, text: content }] }
    } catch (thrown) {
      const { message, hint } = toTooldexError(thrown)
      throw refuse(`${message} ${hint}`)
    }
  })
}

const refuse = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message)
