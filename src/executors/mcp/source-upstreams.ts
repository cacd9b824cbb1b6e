import { BoundedMap } from '../../base/bounded-map.ts'
import { mapStrings, sameJson } from '../../base/json-values.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { McpServer, OfferMethod, OfferResult, UpstreamRequest } from '../../contract/mcp-server.ts'
import type { SecretScope } from '../../contract/secret.ts'
import type { SignInRef } from '../../contract/sign-in.ts'
import type { SourceItem, SourceManifest, SourceRef, SourceServerState } from '../../contract/source.ts'
import { ownerOf } from '../../rules/server-definition.ts'
import type { UpstreamAttempt } from './describe-failure.ts'
import { isStdio } from './server-settings.ts'
import type { SignIns } from './sign-ins.ts'
import { TokenSource } from './token-source.ts'
import type { Upstream } from './upstream.ts'

/** The stored sources, as far as their servers are concerned. */
export interface SourceAccess {
  /** The approved definition of a server; throws where there is none. */
  find(ref: SourceRef): Promise<McpServer>
  secretsOf(workspace: string): SecretScope
  /** Called after each start and each failure of a server, with the reason of the failure. */
  onAttempt?(ref: SourceRef, failure: string | undefined, needsSignIn: boolean): void
  /** The sign-ins at servers; absent where none can be stored. */
  readonly signIns?: SignIns | undefined
}

/** The server of a source as one caller uses it. */
export interface UsedUpstream {
  readonly upstream: Upstream
  readonly tokens: TokenSource | undefined
}

interface Entry extends UsedUpstream {
  readonly server: McpServer
}

/** Creates the upstream of a server. */
type MakeUpstream = (parts: {
  readonly name: string
  readonly server: McpServer
  readonly secrets: SecretScope
  readonly tokens: TokenSource | undefined
  readonly onAttempt: UpstreamAttempt
  readonly onListChanged: () => void
}) => Upstream

// Each caller with an account of their own has a connection.
const maxCallers = 500

/** The servers of stored sources, each with its own connection; one for each caller where callers sign in. */
export class SourceUpstreams {
  readonly #access: SourceAccess
  readonly #make: MakeUpstream
  readonly #open = new Map<string, BoundedMap<string, Entry>>()
  readonly #reading = new Set<string>()
  /** Called when the definitions of a server may have changed: after a start for a call, and when it announces it. */
  onDefinitions: ((ref: SourceRef) => void) | undefined
  readonly #secrets = new Map<string, SecretScope>()

  constructor(access: SourceAccess, make: MakeUpstream) {
    this.#access = access
    this.#make = make
  }

  /** The upstream of a source with its present definition; one with a previous definition ends after its last call. */
  async of(ref: SourceRef, actor = ''): Promise<UsedUpstream> {
    const server = await this.#access.find(ref).catch((error: unknown) => {
      this.stop(ref)
      throw error
    })
    const caller = ownerOf(server, actor)
    const known = this.#callersOf(ref).get(caller)
    if (known !== undefined && sameJson(known.server, server)) return known
    if (known !== undefined) this.stop(ref)
    const made = this.#create({ ...ref, caller }, server)
    this.#callersOf(ref).set(caller, made)
    return made
  }

  #callersOf(ref: SourceRef): BoundedMap<string, Entry> {
    const callers = this.#open.get(keyOf(ref)) ?? new BoundedMap<string, Entry>(maxCallers)
    this.#open.set(keyOf(ref), callers)
    return callers
  }

  #create({ caller, ...ref }: SignInRef, server: McpServer): Entry {
    const { workspace, name } = ref
    // What a server offers may depend on the account, so only an administrator compares it.
    const changed = () => (caller === '' ? this.onDefinitions?.(ref) : undefined)
    const onAttempt: UpstreamAttempt = (failure, needsSignIn) => {
      // One caller without a sign-in is no failure of the source.
      if (!needsSignIn || caller === '') this.#access.onAttempt?.(ref, failure, needsSignIn)
      // The definitions may have changed since the last start.
      if (failure === undefined && !this.#reading.has(keyOf(ref))) changed()
    }
    const { signIns } = this.#access
    const isOpen = !isStdio(server) && !Object.keys(server.headers).some((key) => key.toLowerCase() === 'authorization')
    const tokens = isOpen && signIns !== undefined ? new TokenSource(signIns, { ...ref, caller }, server) : undefined
    const secrets = this.secretsOf(workspace)
    return {
      server,
      tokens,
      upstream: this.#make({ name, server, secrets, tokens, onAttempt, onListChanged: changed }),
    }
  }

  /** The upstream that is known in this process and that all callers share. */
  known(ref: SourceRef): Upstream | undefined {
    return this.#open.get(keyOf(ref))?.get('')?.upstream
  }

  /** The secrets of a workspace; those that were resolved are redacted. */
  secretsOf(workspace: string): SecretScope {
    const secrets = this.#secrets.get(workspace) ?? this.#access.secretsOf(workspace)
    this.#secrets.set(workspace, secrets)
    return secrets
  }

  async read(ref: SourceRef, signal: AbortSignal, actor?: string): Promise<SourceManifest> {
    const key = keyOf(ref)
    this.#reading.add(key)
    try {
      const used = await this.of(ref, actor)
      const manifest = await used.upstream.readManifest(signal)
      // A server may return its own credentials.
      return redactManifest(manifest, this.#redactorOf(ref, used), signal)
    } finally {
      this.#reading.delete(key)
    }
  }

  async request(
    ref: SourceRef,
    method: OfferMethod,
    request: UpstreamRequest,
    actor?: string,
  ): Promise<OfferResult | undefined> {
    const used = await this.of(ref, actor)
    const result = await used.upstream.request(method, request)
    return result && (mapStrings(result, this.#redactorOf(ref, used)) as OfferResult)
  }

  #redactorOf({ workspace }: SourceRef, { tokens }: UsedUpstream): (text: string) => string {
    const { redact } = this.secretsOf(workspace)
    return (text) => (tokens?.used ?? []).reduce((shown, each) => shown.replaceAll(each, hiddenToken), redact(text))
  }

  stateOf(ref: SourceRef): SourceServerState {
    const callers = [...(this.#open.get(keyOf(ref))?.values() ?? [])]
    const isStarted = callers.some(({ upstream }) => upstream.connection !== undefined)
    const { circuit, denied } = this.known(ref) ?? {}
    const failure = denied ?? (circuit?.refusedUntil === undefined ? undefined : circuit.why)
    return { isStarted, ...(failure === undefined ? {} : { failure }) }
  }

  /** Stops the server of a source after its last call; that of one caller only, where there is one for each. */
  stop(ref: SourceRef, caller?: string): void {
    const callers = this.#open.get(keyOf(ref))
    if (callers === undefined) return
    const stopped = caller === undefined ? [...callers.keys()] : [caller]
    for (const each of stopped) {
      callers.get(each)?.upstream.retire()
      callers.delete(each)
    }
    if (callers.size === 0) this.#open.delete(keyOf(ref))
  }

  async close(): Promise<void> {
    const all = [...this.#open.values()].flatMap((callers) => [...callers.values()])
    await Promise.allSettled(all.map(({ upstream }) => upstream.close()))
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

const hiddenToken = '[redacted sign-in]'

const keyOf = ({ workspace, name }: SourceRef): string => `${workspace} ${name}`
