import type { CallerInput, RequestedInput } from './executor.ts'

/** The requests of clients that are passed to an upstream. */
export type OfferMethod =
  | 'prompts/list'
  | 'prompts/get'
  | 'resources/list'
  | 'resources/templates/list'
  | 'resources/read'
  | 'completion/complete'

/** A request that is passed to an upstream. */
export interface UpstreamRequest {
  readonly params: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  readonly traceparent?: string | undefined
  readonly callerInput?: CallerInput | undefined
  /** Whether the upstream is started for it; default true. */
  readonly mayStart?: boolean | undefined
}

/** A result in the form of MCP, or the input that the upstream requests first. */
export type OfferResult = Readonly<Record<string, unknown>> | RequestedInput

/** An upstream whose prompts and resources are offered to clients. */
export interface UpstreamServer {
  readonly name: string
  /** The prefix of its prompts and resources; empty if their names are passed on unchanged. */
  readonly namespace: string
}

/** The upstreams of this machine, which offer prompts and resources beside their tools. */
export interface UpstreamOffers {
  /** The upstreams in the order of their names. */
  servers(): readonly UpstreamServer[]
  /** Sends a request; undefined if the upstream is unknown or does not offer what was requested. */
  request(server: string, method: OfferMethod, request: UpstreamRequest): Promise<OfferResult | undefined>
}
