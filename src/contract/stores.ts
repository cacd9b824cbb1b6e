import type { AuditStore } from './audit.ts'
import type { BundleCategory, BundlePolicy, StoredPolicy } from './bundle.ts'
import type { ToolStatus } from './catalog.ts'
import type { ExecutionStore } from './execution.ts'
import type { DefinitionStore, LimitStore } from './policy.ts'
import type {
  Category,
  OfferedChanges,
  OfferedTools,
  RegisteredTool,
  ToolContent,
  ToolListQuery,
  ToolVersion,
  Transition,
} from './registry.ts'
import type { StatsStore } from './run-history.ts'
import type { LearningStore } from './search.ts'
import type { StoredSecret } from './secret.ts'
import type { SignInStore } from './sign-in.ts'
import type { SourceStore } from './source.ts'
import type { ReplayReport } from './tool-diff.ts'
import type { Toolset } from './toolset.ts'

/** The expected state before a change: a version number, or the value of If-Match: one tag, several, or `*` for any. */
export type Expected = number | string

/** The caller of an operation; nothing outside its workspace is read or written. */
export interface Caller {
  readonly workspace: string
  readonly actor: string
  readonly requestId?: string | undefined
  /** The groups of its access token. */
  readonly groups?: readonly string[] | undefined
  /** The toolsets that the request is restricted to, by its endpoint or its key; unrestricted where absent. */
  readonly toolsets?: readonly string[] | undefined
}

/** Differs after every change of what the registry offers: tools, policies, toolsets. */
export type RegistryState = string

/** One page of a list. */
export interface Page<Item> {
  readonly items: Item[]
  readonly nextCursor?: string
  readonly total?: number
}

/** The parameters of every list. */
export interface PageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** The precondition of a change; a mismatch rejects it. */
export interface Condition {
  readonly expectedVersion?: Expected | undefined
}

/** The options of a change. */
export interface ChangeOptions extends Condition {
  readonly changelog?: string | undefined
  /** The earlier version that this change restores, for the audit log. */
  readonly backTo?: number | undefined
}

/** Registered tools and their versions. */
export interface ToolStore {
  create(
    caller: Caller,
    content: ToolContent,
    options?: ChangeOptions & { status?: ToolStatus },
  ): Promise<RegisteredTool>
  /** Many at once, all or none. */
  createMany(caller: Caller, drafts: readonly NewTool[]): Promise<void>
  /** By id or by name; with a state of the registry, at least as new as that. */
  get(workspace: string, idOrName: string, state?: RegistryState): Promise<RegisteredTool | undefined>
  list(workspace: string, query: ToolListQuery): Promise<Page<RegisteredTool>>
  /** Every active tool with the name of its category, for the catalog. */
  offered(workspace: string): Promise<OfferedTools>
  /** The changes of the offered tools since an earlier read. */
  offeredSince(workspace: string, seen: string): Promise<OfferedChanges>
  /** Creates the next version from the result of `make`, under a lock on the tool; unchanged content creates none. */
  change(
    caller: Caller,
    idOrName: string,
    make: (current: RegisteredTool) => ToolContent | Promise<ToolContent>,
    options?: ChangeOptions,
  ): Promise<{ readonly tool: RegisteredTool; readonly changed: boolean }>
  transition(caller: Caller, idOrName: string, step: Transition, options?: ChangeOptions): Promise<RegisteredTool>
  /** Deletes the tool and its versions; its executions stay. */
  remove(caller: Caller, idOrName: string, options?: ChangeOptions): Promise<RegisteredTool>
  versions(workspace: string, toolId: string, query: PageQuery): Promise<Page<ToolVersion>>
  version(workspace: string, toolId: string, version: number): Promise<ToolVersion | undefined>
  /** Where names are passed, only tools with these names are counted. */
  tags(workspace: string, names?: ReadonlySet<string>): Promise<{ readonly tag: string; readonly tools: number }[]>
  renameTag(caller: Caller, from: string, to: string): Promise<number>
}

/** A tool to create. */
export interface NewTool {
  readonly content: ToolContent
  readonly status: ToolStatus
  readonly changelog?: string | undefined
}

/** A category with the numbers of its tools, without and with its subcategories. */
export interface CountedCategory extends Category {
  readonly tools: number
  readonly toolsBelow: number
}

/** The tree of categories. */
export interface CategoryStore {
  create(caller: Caller, category: CategoryDraft): Promise<Category>
  get(workspace: string, idOrName: string): Promise<Category | undefined>
  /** Where names are passed, only tools with these names are counted. */
  all(workspace: string, names?: ReadonlySet<string>): Promise<CountedCategory[]>
  change(caller: Caller, idOrName: string, change: Partial<CategoryDraft>, options?: Condition): Promise<Category>
  /** Creates and moves many by name, parents first, all or none. */
  arrange(caller: Caller, plan: Record<'create' | 'change', readonly BundleCategory[]>): Promise<void>
  /** Rejected for a category with tools or subcategories, unless they are moved to its parent. */
  remove(caller: Caller, idOrName: string, options: Condition & { readonly reparent: boolean }): Promise<Category>
}

export interface CategoryDraft {
  readonly name: string
  readonly description?: string | null | undefined
  readonly parentId?: string | null | undefined
}

/** A change of a tool that is not in force. */
export interface Proposal {
  readonly id: string
  readonly toolId: string
  readonly status: 'OPEN' | 'ACCEPTED' | 'REFUSED'
  readonly baseVersion: number
  readonly change: Partial<ToolContent>
  readonly reason: string | null
  readonly changelog: string | null
  readonly createdAt: string
  readonly createdBy: string | null
  readonly decidedAt: string | null
  readonly decidedBy: string | null
  readonly decision: string | null
  readonly acceptedVersion: number | null
  /** The result of the last replay. */
  readonly replay: ReplayReport | null
}

export interface ProposalDraft {
  readonly toolId: string
  readonly baseVersion: number
  readonly change: Partial<ToolContent>
  readonly reason?: string | undefined
  readonly changelog?: string | undefined
}

export interface ProposalStore {
  create(caller: Caller, draft: ProposalDraft): Promise<Proposal>
  get(workspace: string, id: string): Promise<Proposal | undefined>
  list(workspace: string, toolId: string, query: PageQuery): Promise<Page<Proposal>>
  /** Stores the result of a replay of an open proposal. */
  keepReplay(caller: Caller, id: string, report: ReplayReport): Promise<Proposal>
  /** Rejected unless the proposal is open. */
  decide(
    caller: Caller,
    id: string,
    decision: { readonly status: 'ACCEPTED' | 'REFUSED'; readonly note?: string; readonly version?: number },
  ): Promise<Proposal>
}

/** Policies by name. */
export interface PolicyStore {
  /** With a state of the registry, at least as new as that. */
  list(workspace: string, state?: RegistryState): Promise<readonly StoredPolicy[]>
  get(workspace: string, name: string): Promise<StoredPolicy | undefined>
  /** Creates a policy or replaces the one with the same name. */
  put(caller: Caller, named: BundlePolicy): Promise<void>
  remove(caller: Caller, name: string): Promise<void>
  /** The names of the policies that were created or changed at this time or later. */
  changedSince(workspace: string, time: string): Promise<readonly string[]>
}

/** The operations a key may use. */
export type KeyScope = 'read' | 'call' | 'write' | 'admin'

/** A key without its secret. */
export interface ApiKey {
  readonly id: string
  readonly workspace: string
  readonly name: string
  readonly prefix: string
  readonly scopes: KeyScope[]
  /** The toolsets that it is restricted to; null where it is not. */
  readonly toolsets: string[] | null
  /** Whether its callers may run programs. */
  readonly codeMode: boolean
  readonly createdAt: string
  readonly createdBy: string | null
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

/** A key to create; of its secret only the hash is stored. */
export interface KeyDraft extends Pick<ApiKey, 'name' | 'prefix'> {
  readonly hash: string
  readonly scopes: readonly KeyScope[]
  readonly codeMode?: boolean | undefined
  readonly expiresAt?: string | undefined
  readonly toolsets?: readonly string[] | undefined
}

export interface KeyStore {
  /** Stores only the hash. The first key of a workspace creates the workspace. */
  create(caller: Caller, draft: KeyDraft): Promise<ApiKey>
  /** Returns a valid key by the hash of its secret, with the present state of the registry; not a revoked or expired one. */
  find(hash: string): Promise<(ApiKey & { readonly registryState: RegistryState }) | undefined>
  list(workspace: string): Promise<ApiKey[]>
  /**
   * Revokes a key permanently and cancels its calls that have not started; every process is notified. `check` receives the key and
   * all keys of its workspace, which cannot change until the key is revoked.
   */
  revoke(caller: Caller, idOrName: string, check?: (key: ApiKey, all: readonly ApiKey[]) => void): Promise<ApiKey>
  /** The keys among `ids` that are revoked or expired. */
  findInvalid(ids: readonly string[]): Promise<readonly string[]>
  /** Calls `onRevoked` when any process revokes a key. */
  listen(onRevoked: (keyId: string) => void): Promise<() => Promise<void>>
  count(): Promise<number>
}

/** Reports changes of the offered tools by any process. */
export interface ChangeFeed {
  /** Increases with every change. */
  version(workspace: string): Promise<number>
  /** Calls `onNotice` for every notice; notices can be lost, so listeners also poll. */
  listen(onNotice: (workspace: string) => void): Promise<() => Promise<void>>
}

/** Responses by Idempotency-Key. */
export interface IdempotencyStore {
  /** `fresh` where the key is new and now claimed; otherwise the state or the response of the first request. */
  claim(
    caller: Caller,
    key: string,
    bodyHash: string,
  ): Promise<'fresh' | 'other-body' | 'running' | { status: number; body: unknown }>
  keep(caller: Caller, key: string, response: { status: number; body: unknown }): Promise<void>
  forget(caller: Caller, key: string): Promise<void>
}

/** Values that later requests of the same caller refer to, on any replica; they expire a day after they were put. */
export interface ExchangeStore {
  put(caller: Caller, id: string, value: unknown): Promise<void>
  get(caller: Caller, id: string): Promise<unknown>
  /** Returns and removes a value, for one of several requests at once. */
  take(caller: Caller, id: string): Promise<unknown>
}

/** Secrets by name; only encrypted values are stored. */
export interface SecretStore {
  list(workspace: string): Promise<StoredSecret[]>
  find(workspace: string, name: string): Promise<string | undefined>
  put(caller: Caller, name: string, sealed: string): Promise<StoredSecret>
  remove(caller: Caller, name: string): Promise<StoredSecret>
}

/** The stores of one database. */
export interface Stores {
  readonly tools: ToolStore
  readonly categories: CategoryStore
  readonly proposals: ProposalStore
  readonly policies: PolicyStore
  readonly toolsets: DefinitionStore<Toolset>
  readonly limits: LimitStore
  readonly keys: KeyStore
  readonly audit: AuditStore
  readonly answers: IdempotencyStore
  readonly exchanges: ExchangeStore
  readonly executions: ExecutionStore
  readonly secrets: SecretStore
  readonly sources: SourceStore
  readonly signIns: SignInStore
  readonly learning: LearningStore
  readonly stats: StatsStore
  readonly feed: ChangeFeed
  /** Runs the work in one transaction; canceled after the default timeout or `withinMs`. */
  transaction<Result>(
    work: (stores: Stores) => Promise<Result>,
    options?: { readonly withinMs?: number | undefined },
  ): Promise<Result>
  /** Throws unless the database responds. */
  ping(signal?: AbortSignal): Promise<void>
}
