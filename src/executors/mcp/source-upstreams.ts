import { sameJson } from '../../base/json-values.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { McpServer } from '../../contract/mcp-server.ts'
import type { SecretScope } from '../../contract/secret.ts'
import type { SourceItem, SourceManifest, SourceRef, SourceServerState } from '../../contract/source.ts'
import type { OfferMethod, OfferResult, UpstreamRequest } from '../../contract/upstream.ts'
import { mapStrings } from './map-strings.ts'
import type { Upstream } from './upstream.ts'

/** The stored sources, as far as their servers are concerned. */
export interface SourceAccess {
  /** The approved definition of a server; throws where there is none. */
  find(ref: SourceRef): Promise<McpServer>
  secretsOf(workspace: string): SecretScope
  /** Called after each start and each failure of a server, with the reason of the failure. */
  onAttempt?(ref: SourceRef, failure: string | undefined): void
}

interface Entry {
  readonly server: McpServer
  readonly upstream: Upstream
}

/** Creates the upstream of a server. */
type MakeUpstream = (parts: {
  readonly name: string
  readonly server: McpServer
  readonly secrets: SecretScope
  readonly onAttempt: (failure: string | undefined) => void
  readonly onListChanged: () => void
}) => Upstream

/** The servers of stored sources, each with its own connection. */
export class SourceUpstreams {
  readonly #access: SourceAccess
  readonly #make: MakeUpstream
  readonly #open = new Map<string, Entry>()
  readonly #reading = new Set<string>()
  /** Called when the definitions of a server may have changed: after a start for a call, and when it announces it. */
  onDefinitions: ((ref: SourceRef) => void) | undefined
  readonly #secrets = new Map<string, SecretScope>()

  constructor(access: SourceAccess, make: MakeUpstream) {
    this.#access = access
    this.#make = make
  }

  /** The upstream of a source with its present definition; one with a previous definition ends after its last call. */
  async of(ref: SourceRef): Promise<Upstream> {
    const server = await this.#access.find(ref).catch((error: unknown) => {
      this.stop(ref)
      throw error
    })
    const key = keyOf(ref)
    const known = this.#open.get(key)
    if (known !== undefined && sameJson(known.server, server)) return known.upstream
    this.stop(ref)
    const { workspace, name } = ref
    const onAttempt = (failure: string | undefined) => {
      this.#access.onAttempt?.(ref, failure)
      // The definitions may have changed since the last start.
      if (failure === undefined && !this.#reading.has(key)) this.onDefinitions?.(ref)
    }
    const onListChanged = () => this.onDefinitions?.(ref)
    const upstream = this.#make({ name, server, secrets: this.secretsOf(workspace), onAttempt, onListChanged })
    this.#open.set(key, { server, upstream })
    return upstream
  }

  /** The upstream that is known in this process. */
  known(ref: SourceRef): Upstream | undefined {
    return this.#open.get(keyOf(ref))?.upstream
  }

  /** The secrets of a workspace; those that were resolved are redacted. */
  secretsOf(workspace: string): SecretScope {
    const secrets = this.#secrets.get(workspace) ?? this.#access.secretsOf(workspace)
    this.#secrets.set(workspace, secrets)
    return secrets
  }

  async read(ref: SourceRef, signal: AbortSignal): Promise<SourceManifest> {
    const key = keyOf(ref)
    this.#reading.add(key)
    try {
      const manifest = await (await this.of(ref)).readManifest(signal)
      // A server may return its own credentials.
      return redactManifest(manifest, this.secretsOf(ref.workspace).redact, signal)
    } finally {
      this.#reading.delete(key)
    }
  }

  async request(ref: SourceRef, method: OfferMethod, request: UpstreamRequest): Promise<OfferResult | undefined> {
    const result = await (await this.of(ref)).request(method, request)
    return result && (mapStrings(result, this.secretsOf(ref.workspace).redact) as OfferResult)
  }

  stateOf(ref: SourceRef): SourceServerState {
    const upstream = this.known(ref)
    if (upstream === undefined) return { isStarted: false }
    const { circuit, denied, connection } = upstream
    const failure = denied ?? (circuit.refusedUntil === undefined ? undefined : circuit.why)
    return { isStarted: connection !== undefined, ...(failure === undefined ? {} : { failure }) }
  }

  stop(ref: SourceRef): void {
    const known = this.#open.get(keyOf(ref))
    this.#open.delete(keyOf(ref))
    known?.upstream.retire()
  }

  async close(): Promise<void> {
    await Promise.allSettled(Array.from(this.#open.values(), ({ upstream }) => upstream.close()))
  }
}

/** A manifest with all its texts redacted, one definition after the other, so that other requests get their turns. */
async function redactManifest(
  manifest: SourceManifest,
  redact: (text: string) => string,
  signal: AbortSignal,
): Promise<SourceManifest> {
  const turn = yieldTurns(signal)
  const { tools, prompts, resources, templates, ...about } = manifest
  const all = async (items: readonly SourceItem[]) => {
    const redacted: SourceItem[] = []
    for (const item of items) {
      await turn()
      redacted.push(mapStrings(item, redact) as SourceItem)
    }
    return redacted
  }
  return {
    ...(mapStrings(about, redact) as typeof about),
    tools: await all(tools),
    prompts: await all(prompts),
    resources: await all(resources),
    templates: await all(templates),
  }
}

const keyOf = ({ workspace, name }: SourceRef): string => `${workspace} ${name}`
