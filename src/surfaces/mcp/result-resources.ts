import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server'
import { toTooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { RegistryClient } from '../../operations/registry-client/registry-client.ts'

// Loaded with the first one: most connections read none.
const loadResults = lazyModule(() => import('../../operations/runs/results.ts'))

/** The URI prefix of large outputs. */
export const resultScheme = 'tooldex://results/'

/** Serves large outputs as resources; they are not listed, because each belongs to one call. */
export function serveResults(server: Server, client: RegistryClient): void {
  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('resources/read', async ({ params }, { mcpReq: { signal } }) => {
    const { uri } = params
    if (!uri.startsWith(resultScheme)) throw invalidParams(`Unknown resource: ${uri.slice(0, 200)}`)
    try {
      // Loaded on first use: most connections read no results.
      const { readWholeResult } = await loadResults()
      const handle = uri.slice(resultScheme.length)
      const { mediaType, content } = await client.invoke(readWholeResult, { handle }, { signal })
      return { contents: [{ uri, mimeType: mediaType, text: content }] }
    } catch (thrown) {
      const { message, hint } = toTooldexError(thrown)
      throw invalidParams(`${message} ${hint}`)
    }
  })
}

const invalidParams = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message)
