import { TooldexError } from '../../base/errors.ts'
import type { OfferMethod, OfferResult, UpstreamOffers, UpstreamRequest } from '../../contract/mcp-server.ts'
import type { SourceManifest } from '../../contract/source.ts'
import type { OperationContext } from '../operation.ts'

type OffersContext = OperationContext<'catalog' | 'upstreams?' | 'sources?'>

/** The prompts and resources of a workspace: of the servers of this machine, and of its sources. */
export function workspaceOffers(context: OffersContext): UpstreamOffers | undefined {
  const { catalog, caller, upstreams } = context
  const ofHost = upstreams?.(caller.workspace)
  const manifests = context.sources === undefined ? new Map<string, SourceManifest>() : catalog.manifests
  if (manifests.size === 0) return ofHost
  const hostServers = ofHost?.servers() ?? []
  const own = [...manifests.keys()].filter((name) => hostServers.every((server) => server.name !== name))
  return {
    servers: () => [...hostServers, ...own.map((name) => ({ name, namespace: name.replaceAll('_', '-') }))],
    async request(server, method, request) {
      const manifest = own.includes(server) ? manifests.get(server) : undefined
      if (manifest === undefined) return ofHost?.request(server, method, request)
      return requestOfSource(context, { name: server, manifest, method, request })
    },
  }
}

interface SourceRequest {
  readonly name: string
  readonly manifest: SourceManifest
  readonly method: OfferMethod
  readonly request: UpstreamRequest
}

/** Lists are those of the accepted definitions; only a request for content starts the server. */
async function requestOfSource(
  { sources, caller }: OffersContext,
  { name, manifest, method, request }: SourceRequest,
): Promise<OfferResult | undefined> {
  const { prompts, resources, templates } = manifest
  if (method === 'prompts/list') return { prompts }
  if (method === 'resources/list') return { resources }
  if (method === 'resources/templates/list') return { resourceTemplates: templates }
  const prompt = request.params.name
  // A prompt that was added after the approval is held.
  if (method === 'prompts/get' && !prompts.some((item) => item.name === prompt))
    throw new TooldexError('NOT_FOUND', `Unknown prompt: ${String(prompt).slice(0, 200)}.`, {
      hint: 'See prompts/list.',
    })
  return sources?.request({ workspace: caller.workspace, name }, method, request, caller.actor)
}
