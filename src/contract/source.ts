import * as z from 'zod'
import type { McpServer, OfferMethod, OfferResult, UpstreamRequest } from './mcp-server.ts'
import type { SignInClient } from './sign-in.ts'
import type { Caller } from './stores.ts'

/**
 * The name of a source, which is the namespace of its tools. Their names begin with it and `__`, which a name therefore neither
 * contains nor ends in the half of: a server could name a tool like that of another source.
 */
export const SourceName = z
  .string()
  .max(63)
  .regex(
    /^[A-Za-z](?:_?[A-Za-z0-9-])*$/,
    'must begin with a letter and have letters, digits, "-" and single "_", but none at its end',
  )

/** The handling of changed definitions: held for a decision, accepted where harmless, or never accepted. */
export const SourceTrust = z.enum(['hold', 'trusted', 'pinned'])
export type SourceTrust = z.infer<typeof SourceTrust>

/** A tool, prompt, resource or resource template as its server defines it. */
export type SourceItem = Readonly<Record<string, unknown>>

/** The kinds of items of a manifest. */
export const sourceItemKinds = ['tools', 'prompts', 'resources', 'templates'] as const
export type SourceItemKind = (typeof sourceItemKinds)[number]

/** Everything that a server offered when it was read. */
export interface SourceManifest extends Readonly<Record<SourceItemKind, readonly SourceItem[]>> {
  readonly readAt: string
  /** The negotiated revision of the protocol. */
  readonly protocolVersion: string | null
  readonly serverInfo: Readonly<Record<string, unknown>> | null
  readonly instructions: string | null
  /** The number of definitions that were beyond the limits, at least; absent where there was none. */
  readonly leftOut?: number | undefined
}

/** A source of a workspace; the key of its server in every process. */
export interface SourceRef {
  readonly workspace: string
  readonly name: string
}

/** The last failed attempt to reach a server. */
export interface SourceFailure {
  readonly at: string
  readonly reason: string
  /** Whether an administrator must sign in at the server. */
  readonly needsSignIn?: boolean | undefined
}

/** A whole MCP server as a source of tools, without the definitions of its tools. */
export interface SourceSummary {
  readonly name: string
  readonly server: McpServer
  readonly trust: SourceTrust
  /** The hash of the command or URL that was approved; null where none was. */
  readonly approvedHash: string | null
  /** When the manifest in use was read; null where none was read. */
  readonly readAt: string | null
  /** The number of definitions that wait for a decision. */
  readonly waiting: number
  /** The number of definitions that the last reading left out, at least; null where there was none. */
  readonly leftOut: number | null
  /** Increases with every change of the definition or the manifest in use. */
  readonly revision: number
  readonly lastFailure: SourceFailure | null
  readonly lastSuccessAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly createdBy: string | null
}

/** The definitions of a source. */
export interface SourceDefinitions {
  /** The accepted definitions, which are in use. */
  readonly manifest: SourceManifest | null
  /** The last read definitions, where they differ from those in use. */
  readonly seen: SourceManifest | null
  /** The hashes of refused definitions by item. */
  readonly refused: Readonly<Record<string, string>>
}

/** A source with its definitions. */
export interface StoredSource extends SourceSummary, SourceDefinitions {}

/** The fields of a source that a change sets. */
export type SourceChange = Partial<
  Pick<StoredSource, 'server' | 'trust' | 'approvedHash' | 'manifest' | 'seen' | 'refused' | 'waiting'>
>

/** The audit entry of a change. */
export interface SourceEvent {
  readonly action: string
  /** Further facts for the audit log. */
  readonly facts?: Readonly<Record<string, unknown>>
}

/** The sources of workspaces. */
export interface SourceStore {
  list(workspace: string): Promise<readonly SourceSummary[]>
  /** A source without its definitions. */
  summary(workspace: string, name: string): Promise<SourceSummary | undefined>
  get(workspace: string, name: string): Promise<StoredSource | undefined>
  create(caller: Caller, source: Pick<SourceSummary, 'name' | 'server' | 'trust'>): Promise<StoredSource>
  /** Changes a source by the result of `make`, under a lock; undefined changes nothing. */
  change(
    caller: Caller,
    name: string,
    make: (current: StoredSource) => (SourceEvent & { readonly change: SourceChange }) | undefined,
  ): Promise<StoredSource>
  /** Records an attempt to reach the server, outside the audit log. */
  noteAttempt(ref: SourceRef, failure: SourceFailure | null): Promise<void>
  remove(caller: Caller, name: string): Promise<SourceSummary>
}

/** The state of a server in this process. */
export interface SourceServerState {
  readonly isStarted: boolean
  /** The reason of the last failure, where calls are rejected or credentials are missing. */
  readonly failure?: string | undefined
}

/** The servers of sources, started in this process. */
export interface SourceServers {
  /** Throws where the workspace lacks a grant that the server needs. */
  requireGrants(workspace: string, server: McpServer): void
  /** Reads everything that an approved server offers to a caller, and starts it for that. */
  read(ref: SourceRef, signal: AbortSignal, actor?: string): Promise<SourceManifest>
  stateOf(ref: SourceRef): SourceServerState
  /** Sends a request for a prompt, a resource or a completion; undefined if the server does not offer it. */
  request(
    ref: SourceRef,
    method: OfferMethod,
    request: UpstreamRequest,
    actor?: string,
  ): Promise<OfferResult | undefined>
  /** Stops a server after its running calls; the connection of one caller only, where each has one. */
  stop(ref: SourceRef, caller?: string): void
  readonly signIns: SignInClient
}
