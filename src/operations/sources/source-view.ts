import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { ready } from '../../contract/catalog.ts'
import type { SignInState } from '../../contract/sign-in.ts'
import {
  type SourceItem,
  type SourceItemKind,
  SourceName,
  type SourceServers,
  type SourceSummary,
  SourceTrust,
  type StoredSource,
} from '../../contract/source.ts'
import { ChangeClass, ToolDiff } from '../../contract/tool-diff.ts'
import { approvalHash, approvedCommand, ownerOf } from '../../rules/server-definition.ts'
import { compareManifests, type ItemChange, readingHash } from '../../rules/source-drift.ts'
import { findSuspiciousIn } from '../../rules/suspicious-text.ts'
import { sourceToolName } from '../catalog/source-tool.ts'
import type { OperationContext } from '../operation.ts'
import { toolViewOfCaller } from '../search/tool-view.ts'
import { classChanges } from './class-changes.ts'
import { serverFields } from './server-input.ts'
import { leftOutReason } from './store-reading.ts'

/** The services of operations on sources. */
export type SourceContext = OperationContext<'catalog' | 'registry' | 'sources'>
type VisibleContext = OperationContext<'catalog' | 'registry?' | 'sources?'>
type ReadingContext = OperationContext<'catalog' | 'registry' | 'sources?'>

const SourceState = z
  .enum(['configured', 'known', 'started', 'failed'])
  .describe(
    'configured: not approved, or never read. known: its tools are offered, and the server starts at the first call. failed: the last attempt to reach it failed.',
  )

/** The sign-in that the caller uses at a source. */
export const SignInView = z.object({
  mode: z.enum(['shared', 'caller']).describe('Whether all callers use one account, or each their own.'),
  isSignedIn: z.boolean(),
  failure: z.string().nullable().describe('The reason why the sign-in has ended by itself.'),
})

/** A source as lists and responses show it. */
const ShownSource = z.object({
  name: SourceName,
  transport: z.enum(['stdio', 'http']),
  state: SourceState,
  trust: SourceTrust,
  isApproved: z.boolean().describe('Whether its present command or URL is approved; nothing is started before.'),
  tools: z.int(),
  prompts: z.int(),
  resources: z.int(),
  signIn: SignInView.optional().describe(
    'The sign-in at its server, where there is one; that of this caller if each has one.',
  ),
  waiting: z.int().describe('Definitions that changed at the server and wait for a decision.'),
  readAt: z.iso.datetime().nullable().describe('When the definitions in use were read.'),
  lastSuccessAt: z.iso.datetime().nullable().describe('The last start of the server.'),
  lastFailure: z.object({ at: z.iso.datetime(), reason: z.string() }).nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

const OfferedItem = z.object({
  name: z.string().describe('The name at the server, or the URI.'),
  tool: z.string().optional().describe('The name of the tool in the catalog.'),
  description: z.string().optional(),
  suspicious: z.array(z.string()).optional().describe('Signs of an attack on the reader, such as hidden characters.'),
})

/** A changed definition of a server that is not in use. */
const ShownChange = z.object({
  item: z.string().describe('Such as tools/read_file.'),
  change: z.enum(['added', 'changed', 'removed']),
  class: ChangeClass,
  suspicious: z.array(z.string()).describe('Signs of an attack on the reader.'),
  decision: z.enum(['waiting', 'refused', 'pinned']),
  before: z.record(z.string(), z.unknown()).optional().describe('The definition in use.'),
  after: z.record(z.string(), z.unknown()).optional().describe('The definition of the server.'),
  diff: ToolDiff.optional().describe('The differences of a tool, field by field.'),
})

/** A source with its items; its definition is shown to administrators only. */
export const SourceDetail = ShownSource.extend({
  approval: z
    .object({
      hash: z.string().describe('The hash to approve.'),
      command: z.string().describe('The exact command line or URL, never shortened.'),
      needs: z.array(z.string()).describe('The secret references in its variables or headers.'),
    })
    .optional(),
  server: z.object(serverFields).optional(),
  createdBy: z.string().nullable().optional(),
  protocolVersion: z.string().nullable(),
  serverInfo: z.object({ name: z.string(), version: z.string() }).nullable(),
  instructions: z.string().nullable(),
  leftOut: z
    .int()
    .optional()
    .describe(`Definitions that were left out at the last reading, at least: ${leftOutReason}.`),
  reading: z.string().optional().describe('The hash of the last reading, where definitions have changed.'),
  changes: z.array(ShownChange).optional().describe('The changed definitions that are not in use.'),
  items: z.object({
    tools: z.array(OfferedItem),
    prompts: z.array(OfferedItem),
    resources: z.array(OfferedItem),
    templates: z.array(OfferedItem),
  }),
})
export type SourceDetail = z.output<typeof SourceDetail>

/** The state of a source: of its server in this process, and of the last attempt of any process. */
function sourceState(
  source: SourceSummary,
  servers: Pick<SourceServers, 'stateOf'> | undefined,
  workspace: string,
): z.output<typeof SourceState> {
  if (!isApproved(source)) return 'configured'
  if (servers?.stateOf({ workspace, name: source.name }).isStarted) return 'started'
  if (source.lastFailure !== null) return 'failed'
  return source.readAt === null ? 'configured' : 'known'
}

/** Whether the present command or URL is approved. */
const isApproved = ({ server, approvedHash }: SourceSummary): boolean => approvedHash === approvalHash(server)

/** A source that must exist and that the caller may see. */
export async function findSource(context: ReadingContext, name: string): Promise<StoredSource> {
  const { registry, caller } = context
  const source = await registry.stores.sources.get(caller.workspace, name)
  if (source !== undefined && (await isVisible(context, source.name))) return source
  throw unknownSource(name)
}

const unknownSource = (name: string): TooldexError =>
  new TooldexError('NOT_FOUND', `There is no source '${name.slice(0, 100)}'.`, {
    hint: 'List the sources to find its name.',
  })

/** Whether a caller sees all of a source and not only tools of it: the rule of a source is named `mcp:NAME`. */
async function isWholeVisible(context: VisibleContext, name: string): Promise<boolean> {
  const view = await toolViewOfCaller(context)
  return isAdmin(context) || (view?.sees({ name: `mcp:${name}`, namespace: name }, () => ready) ?? true)
}

/** Whether no policy or toolset hides a source; one that shows a tool shows its source. */
async function isVisible(context: VisibleContext, name: string): Promise<boolean> {
  const view = await toolViewOfCaller(context)
  if (view === undefined || (await isWholeVisible(context, name))) return true
  const tools = await context.catalog.open()
  return tools.list().some((found) => found.runnable?.source?.name === name && view.shows(found))
}

/** The fields of a source that lists show; the reason of a failure may quote its server, and is for administrators. */
function summarizeSource(context: VisibleContext, source: SourceSummary, signIns: readonly SignInState[]) {
  const { name, server, trust, waiting, readAt, lastSuccessAt, lastFailure, createdAt, updatedAt } = source
  return {
    name,
    transport: 'command' in server ? ('stdio' as const) : ('http' as const),
    state: sourceState(source, context.sources, context.caller.workspace),
    trust,
    isApproved: isApproved(source),
    ...signInOf(context, source, signIns),
    waiting,
    readAt,
    lastSuccessAt,
    lastFailure: lastFailure && { at: lastFailure.at, reason: isAdmin(context) ? lastFailure.reason : 'failed' },
    createdAt,
    updatedAt,
  }
}

/** The sign-in of a source whose server asked for one, or that is set to have one. */
function signInOf(
  { caller }: VisibleContext,
  { name, server, lastFailure }: SourceSummary,
  all: readonly SignInState[],
) {
  const owner = ownerOf(server, caller.actor)
  const own = all.find((each) => each.source === name && each.caller === owner)
  const isUsed =
    own !== undefined || lastFailure?.needsSignIn === true || ('url' in server && server.oauth !== undefined)
  if (!isUsed) return {}
  const mode = owner === '' ? ('shared' as const) : ('caller' as const)
  return { signIn: { mode, isSignedIn: own?.isSignedIn === true, failure: own?.failure ?? null } }
}

const readSignIns = async ({ registry, caller }: VisibleContext): Promise<readonly SignInState[]> =>
  (await registry?.stores.signIns.list(caller.workspace, [caller.actor, ''])) ?? []

const isAdmin = ({ scopes, caller }: OperationContext): boolean => scopes.has('admin') && caller.toolsets === undefined

/** The sources that the caller sees, by name. */
export async function visibleSources(context: VisibleContext) {
  const { registry, caller } = context
  const shown: (ReturnType<typeof summarizeSource> & { readonly leftOut?: number })[] = []
  const signIns = await readSignIns(context)
  for (const source of (await registry?.stores.sources.list(caller.workspace)) ?? [])
    if (await isVisible(context, source.name)) {
      const hasNotice = source.leftOut !== null && (await isWholeVisible(context, source.name))
      const notice = hasNotice ? { leftOut: source.leftOut as number } : {}
      shown.push({ ...summarizeSource(context, source, signIns), ...notice })
    }
  return shown
}

/** A source in the form of responses; what it starts and with what is for administrators. */
export async function toDetail(context: ReadingContext, source: StoredSource): Promise<SourceDetail> {
  const { manifest, server, name, createdBy } = source
  const isWhole = await isWholeVisible(context, name)
  const shown = await visibleTools(context, name)
  const turn = yieldTurns(context.signal)
  const items = async (kind: SourceItemKind) => {
    const offered: z.output<typeof OfferedItem>[] = []
    for (const item of kind === 'tools' || isWhole ? (manifest?.[kind] ?? []) : []) {
      const tool = kind === 'tools' ? sourceToolName(name, String(item.name)) : undefined
      if (tool !== undefined && shown?.has(tool) === false) continue
      await turn()
      offered.push({
        name: String(item.name ?? item.uri ?? item.uriTemplate),
        ...(tool === undefined ? {} : { tool }),
        ...(typeof item.description === 'string' ? { description: item.description } : {}),
        ...flagged(item),
      })
    }
    return offered
  }
  const all = {
    tools: await items('tools'),
    prompts: await items('prompts'),
    resources: await items('resources'),
    templates: await items('templates'),
  }
  const { type, namespace: _namespace, ...others } = server
  const fields = { ...others, ...(type === 'sse' ? { type } : {}) }
  const approval = { hash: approvalHash(server), command: approvedCommand(server), needs: referencesOf(server) }
  const { protocolVersion = null, instructions = null } = manifest ?? {}
  const { leftOut } = source.seen ?? manifest ?? {}
  return {
    ...summarizeSource(context, source, await readSignIns(context)),
    tools: all.tools.length,
    prompts: all.prompts.length,
    resources: all.resources.length + all.templates.length,
    ...(isAdmin(context) ? { approval, server: fields, createdBy, ...(await changesOf(source, context.signal)) } : {}),
    protocolVersion,
    serverInfo: (manifest?.serverInfo ?? null) as SourceDetail['serverInfo'],
    // They may speak of everything that the server offers.
    instructions: isWhole ? instructions : null,
    ...(leftOut === undefined || !isWhole ? {} : { leftOut }),
    items: all,
  }
}

const maxChanges = 200

/** The first of the changed definitions that are not in use. */
async function changesOf({ manifest, seen, refused, trust }: StoredSource, signal: AbortSignal | undefined) {
  if (manifest === null || seen === null) return {}
  const found = await compareManifests(manifest, seen, signal)
  const changes = await classChanges(found.slice(0, maxChanges), signal)
  const decisionOn = ({ key, hash }: ItemChange) =>
    refused[key] === hash ? ('refused' as const) : trust === 'pinned' ? ('pinned' as const) : ('waiting' as const)
  return {
    reading: await readingHash(seen, signal),
    changes: changes.map((each) => {
      const { key: item, change, suspicious, before, after, diff } = each
      const parts = { ...(before && { before }), ...(after && { after }), ...(diff && { diff }) }
      return { item, change, class: each.class, suspicious: [...suspicious], decision: decisionOn(each), ...parts }
    }),
  }
}

function flagged(item: SourceItem): { readonly suspicious?: string[] } {
  const suspicious = [...findSuspiciousIn(item)]
  return suspicious.length === 0 ? {} : { suspicious }
}

const referencesOf = (server: StoredSource['server']): string[] =>
  Object.values('command' in server ? server.env : server.headers).flatMap((value) => {
    const [reference] = /(?:secret|env|file):\S+$/.exec(value) ?? []
    return reference === undefined ? [] : [reference]
  })

/** The names of the visible tools of a source; undefined where none is hidden. */
async function visibleTools(context: ReadingContext, source: string): Promise<ReadonlySet<string> | undefined> {
  const view = await toolViewOfCaller(context)
  if (view === undefined || (context.scopes.has('write') && context.caller.toolsets === undefined)) return undefined
  const tools = (await context.catalog.open()).list()
  return new Set(
    tools.flatMap((found) => (found.runnable?.source?.name === source && view.shows(found) ? [found.tool.name] : [])),
  )
}
