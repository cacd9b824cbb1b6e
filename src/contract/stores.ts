import type { BundleCategory, BundlePolicy } from './bundle.ts'
import type { ExecutionStore } from './execution.ts'
import type { Expected } from './expected.ts'
import type { LearningStore } from './learning.ts'
import type { OfferedChanges, OfferedTools } from './offered.ts'
import type { Category, RegisteredTool, ToolContent, ToolVersion, Transition } from './registry.ts'
import type { ReplayReport } from './replay.ts'
import type { StoredSecret } from './secret.ts'
import type { StoredPolicy } from './stored-policy.ts'
import type { ToolListQuery } from './tool-list.ts'
import type { ToolStatus } from './tool-state.ts'

/** Who asks, and in whose name: nothing is read or written outside the workspace. */
export interface Caller {
  readonly workspace: string
  readonly actor: string
  readonly requestId?: string | undefined
}

/** A part of a list, and how to get the next. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor?: string
  readonly total?: number
}

/** What every list takes. */
export interface PageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** What a change is made on; refused where it is another by now. */
export interface Condition {
  readonly expectedVersion?: Expected | undefined
}

/** How a change is made. */
export interface ChangeOptions extends Condition {
  readonly changelog?: string | undefined
  /** The earlier version that this goes back to, for the record. */
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
  /** By id or by name. */
  get(workspace: string, idOrName: string): Promise<RegisteredTool | undefined>
  list(workspace: string, query: ToolListQuery): Promise<Page<RegisteredTool>>
  /** Every active tool, with the name of its category; what the catalog shows. */
  offered(workspace: string): Promise<OfferedTools>
  /** What has changed of that since an earlier look. */
  offeredSince(workspace: string, seen: string): Promise<OfferedChanges>
  /** Makes the next version of what `make` makes of the present one, alone with the tool; the same content makes none. */
  change(
    caller: Caller,
    idOrName: string,
    make: (current: RegisteredTool) => ToolContent | Promise<ToolContent>,
    options?: ChangeOptions,
  ): Promise<{ readonly tool: RegisteredTool; readonly changed: boolean }>
  transition(caller: Caller, idOrName: string, step: Transition, options?: ChangeOptions): Promise<RegisteredTool>
  /** The tool goes with its versions; its executions stay. */
  remove(caller: Caller, idOrName: string, options?: ChangeOptions): Promise<RegisteredTool>
  versions(workspace: string, toolId: string, query: PageQuery): Promise<Page<ToolVersion>>
  version(workspace: string, toolId: string, version: number): Promise<ToolVersion | undefined>
  /** Where names are given, tools of other names are not counted. */
  tags(
    workspace: string,
    names?: ReadonlySet<string>,
  ): Promise<readonly { readonly tag: string; readonly tools: number }[]>
  renameTag(caller: Caller, from: string, to: string): Promise<number>
}

/** A tool to be made. */
export interface NewTool {
  readonly content: ToolContent
  readonly status: ToolStatus
  readonly changelog?: string | undefined
}

/** A category with how many tools are in it, and in it with all below. */
export interface CountedCategory extends Category {
  readonly tools: number
  readonly toolsBelow: number
}

/** The tree of categories. */
export interface CategoryStore {
  create(caller: Caller, category: CategoryDraft): Promise<Category>
  get(workspace: string, idOrName: string): Promise<Category | undefined>
  /** Where names are given, tools of other names are not counted. */
  all(workspace: string, names?: ReadonlySet<string>): Promise<readonly CountedCategory[]>
  change(caller: Caller, idOrName: string, change: Partial<CategoryDraft>, options?: Condition): Promise<Category>
  /** Makes and moves many at once, by name and parents first, all or none. */
  arrange(caller: Caller, plan: Record<'create' | 'change', readonly BundleCategory[]>): Promise<void>
  /** Refused while tools or categories are in it, unless they are moved to its parent. */
  remove(caller: Caller, idOrName: string, options: Condition & { readonly reparent: boolean }): Promise<Category>
}

export interface CategoryDraft {
  readonly name: string
  readonly description?: string | null | undefined
  readonly parentId?: string | null | undefined
}

/** A change that is not in force. */
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
  /** What came of running recorded inputs against it, the last time. */
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
  /** Keeps what came of running recorded inputs against it, while it is open. */
  keepReplay(caller: Caller, id: string, report: ReplayReport): Promise<Proposal>
  /** Only an open one can be decided. */
  decide(
    caller: Caller,
    id: string,
    decision: { readonly status: 'ACCEPTED' | 'REFUSED'; readonly note?: string; readonly version?: number },
  ): Promise<Proposal>
}

/** Policies by name; they are kept here, and whoever runs tools asks them. */
export interface PolicyStore {
  list(workspace: string): Promise<readonly StoredPolicy[]>
  get(workspace: string, name: string): Promise<StoredPolicy | undefined>
  /** Adds a policy, or puts it in the place of the one of that name. */
  put(caller: Caller, named: BundlePolicy): Promise<void>
  remove(caller: Caller, name: string): Promise<void>
  /** The names of the policies that were put or changed at this time or later. */
  changedSince(workspace: string, time: string): Promise<readonly string[]>
}

/** What a caller may do. */
export type KeyScope = 'read' | 'call' | 'write' | 'admin'

/** A key without its secret. */
export interface ApiKey {
  readonly id: string
  readonly workspace: string
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly KeyScope[]
  readonly createdAt: string
  readonly createdBy: string | null
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

export interface KeyStore {
  /** Keeps the hash only. The first key of a workspace makes it. */
  create(
    caller: Caller,
    draft: { name: string; hash: string; prefix: string; scopes: readonly KeyScope[]; expiresAt?: string | undefined },
  ): Promise<ApiKey>
  /** A key that is neither revoked nor expired, by the hash of its secret. */
  find(hash: string): Promise<ApiKey | undefined>
  list(workspace: string): Promise<readonly ApiKey[]>
  /** Revokes a key for good, and cancels its calls that have not started; every process gets a notice. */
  revoke(caller: Caller, idOrName: string): Promise<ApiKey>
  /** Those of the keys that are revoked or have expired. */
  findInvalid(ids: readonly string[]): Promise<readonly string[]>
  /** Calls back when a key was revoked by any process. */
  listen(onRevoked: () => void): Promise<() => Promise<void>>
  count(): Promise<number>
}

/** One change, for the record. */
export interface AuditEntry {
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly before: unknown
  readonly after: unknown
  readonly requestId: string | null
}

export interface AuditStore {
  /** Notes what changes nothing and should be known all the same. */
  add(caller: Caller, entry: Pick<AuditEntry, 'action' | 'subject'> & { readonly after?: unknown }): Promise<void>
  list(workspace: string, query: PageQuery & { readonly subject?: string | undefined }): Promise<Page<AuditEntry>>
}

/** Says when what the catalog shows has changed, in whichever process. */
export interface ChangeFeed {
  /** Grows with every change. */
  version(workspace: string): Promise<number>
  /** Calls back at every notice; one may be lost, so whoever listens also looks from time to time. */
  listen(onNotice: (workspace: string) => void): Promise<() => Promise<void>>
}

/** How much a workspace has of everything. */
export interface RegistryCounts {
  /** Tools by status, and by who runs them; what there is none of may be absent. */
  readonly status: Readonly<Record<string, number>>
  readonly executorType: Readonly<Record<string, number>>
  readonly versions: number
  readonly categories: number
  readonly tags: number
  readonly policies: number
  readonly openProposals: number
  /** Without those that were revoked. */
  readonly keys: number
}

export interface StatsStore {
  /** Where names are given, tools of other names are not counted, nor what belongs to them. */
  count(workspace: string, names?: ReadonlySet<string>): Promise<RegistryCounts>
  /** Of the whole database, whoever its rows belong to. */
  size(): Promise<{ readonly engine: 'pglite' | 'postgres'; readonly bytes: number }>
}

/** What a request was answered before, under the same Idempotency-Key. */
export interface IdempotencyStore {
  /** `fresh` where the key is new and now held; otherwise what is known of the first request. */
  claim(
    caller: Caller,
    key: string,
    bodyHash: string,
  ): Promise<'fresh' | 'other-body' | 'running' | { status: number; body: unknown }>
  keep(caller: Caller, key: string, answer: { status: number; body: unknown }): Promise<void>
  forget(caller: Caller, key: string): Promise<void>
}

/** What tools refer to by name; only what is sealed is kept. */
export interface SecretStore {
  list(workspace: string): Promise<readonly StoredSecret[]>
  find(workspace: string, name: string): Promise<string | undefined>
  put(caller: Caller, name: string, sealed: string): Promise<StoredSecret>
  remove(caller: Caller, name: string): Promise<StoredSecret>
}

/** Everything that is kept in the database. */
export interface Stores {
  readonly tools: ToolStore
  readonly categories: CategoryStore
  readonly proposals: ProposalStore
  readonly policies: PolicyStore
  readonly keys: KeyStore
  readonly audit: AuditStore
  readonly answers: IdempotencyStore
  readonly executions: ExecutionStore
  readonly secrets: SecretStore
  readonly learning: LearningStore
  readonly stats: StatsStore
  readonly feed: ChangeFeed
  /** All or nothing; given up after the usual time, unless told that it may take longer. */
  transaction<Result>(
    work: (stores: Stores) => Promise<Result>,
    options?: { readonly withinMs?: number | undefined },
  ): Promise<Result>
  /** Whether the database answers. */
  ping(signal?: AbortSignal): Promise<void>
}
