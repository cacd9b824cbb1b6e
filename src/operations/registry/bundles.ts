import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { asStored } from '../../contract/as-stored.ts'
import {
  Bundle,
  type BundlePlan,
  OpenApiOptions,
  type PlanPart,
  splitHint,
  WholeBundle,
} from '../../contract/bundle.ts'
import { ToolStatus } from '../../contract/catalog.ts'
import type { Stores } from '../../contract/stores.ts'
import { ChangeClass } from '../../contract/tool-diff.ts'
import { below, byLocation } from '../../diagnostics/finding.ts'
import { shownPolicy } from '../../rules/stored-policy.ts'
import { checkSentBundle, locateBundleInWorker, planBundle, readBundleInWorker } from '../../sources/bundle/index.ts'
import { describeDiff } from '../../versions/describe-diff.ts'
import {
  checkBundle,
  checkBundleChanges,
  refuseUnapplicableBundle,
  type UncheckedBundle,
  validateBundleTools,
  warningsOfBundle,
} from '../checks/check-bundle.ts'
import { diffToolInThread, faultsOfPatterns } from '../checks/tool-threads.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { readableNames, withFilePolicy } from '../search/tool-view.ts'
import { refuseTakenNamespace } from '../sources/taken-namespace.ts'
import { applyPlan } from './apply-plan.ts'
import { bundleToolContent, readCurrentBundle } from './current-bundle.ts'
import { Destination, destinationsOfImport, findChosenSecrets } from './import-destinations.ts'

const tag = 'bundles'
const Part = z.object({
  create: z.array(z.string()),
  change: z.array(
    z.object({
      name: z.string(),
      fields: z.array(z.string()),
      status: z
        .object({ from: ToolStatus, to: ToolStatus })
        .optional()
        .describe('Present if status is one of the fields.'),
    }),
  ),
  remove: z.array(z.string()),
  unchanged: z.int(),
})
const ToolDiffText = z.object({ tool: z.string(), class: ChangeClass, text: z.string() })
const Plan = Part.extend({ categories: Part, policies: Part, toolsets: Part, limits: Part, sources: Part })

/** Exports the registry. */
export const exportBundle = defineOperation({
  name: 'bundle.export',
  summary:
    'Export all tools, categories, policies, toolsets, limits and sources as one bundle for another registry; sources for administrators.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/bundle', tag },
  input: z.object({}),
  // An export is never rejected for its size.
  output: asStored(WholeBundle),
  async handle(_, context) {
    const bundle = await readCurrentBundle(context.registry.stores, context.caller.workspace)
    const names = await readableNames(context)
    // Toolsets and limits contain names of callers.
    const mayRead = context.scopes.has('write') && context.caller.toolsets === undefined
    // The commands of sources are for administrators.
    const isAdmin = context.scopes.has('admin') && context.caller.toolsets === undefined
    const rest = { ...(mayRead ? {} : { toolsets: [], limits: [] }), ...(isAdmin ? {} : { sources: [] }) }
    if (names === undefined) return { ...bundle, ...rest, policies: bundle.policies.map(shownPolicy) }
    // Policies contain tool names, so callers with hidden tools get none.
    return { ...bundle, ...rest, tools: bundle.tools.filter(({ name }) => names.has(name)), policies: [] }
  },
})

const ImportInput = z.strictObject({
  bundle: Bundle.optional().describe('The bundle, instead of its text.'),
  text: z
    .string()
    .optional()
    .describe('YAML or JSON: a bundle, a CLI config, an OpenAPI document, or an array of OpenAI or MCP tools.'),
  file: z.string().max(500).default('bundle').describe('The name of the text in messages.'),
  openapi: OpenApiOptions.optional().describe('The choices for a text that is an OpenAPI document.'),
  prune: z
    .boolean()
    .default(false)
    .describe('Remove entries that the bundle does not have; of an OpenAPI document, only tools of its namespace.'),
  dryRun: z.boolean().default(false),
})

/** Imports a bundle. */
export const importBundle = defineOperation({
  name: 'bundle.import',
  summary: 'Apply a bundle to the registry, all or nothing; with dryRun, only return the plan.',
  subject: 'bundle',
  scope: 'admin',
  needs: ['catalog', 'registry', 'sources?'],
  http: {
    method: 'post',
    path: '/bundle',
    tag,
    // Only admins import bundles; a text is read in a worker thread.
    body: { bytes: 32 * 1024 * 1024, values: 1_000_000, hint: `Too large for one import: ${splitHint}` },
    deadlineMs: 600_000,
  },
  input: ImportInput,
  output: z.object({
    plan: Plan,
    diffs: z.array(ToolDiffText).describe('The diffs of the first changed tools.'),
    applied: z.boolean(),
    warnings: z.array(z.string()).describe('Of the files, and of the tools that are created or changed.'),
    destinations: z.array(Destination).describe('The hosts of new and changed tools, with the secrets sent there.'),
  }),
  async handle(input, context) {
    try {
      return await makeSo(input, await readGiven(input, context), context)
    } catch (thrown) {
      throw await withPlaces(thrown, input, context)
    }
  },
  async validateRemainder({ bundle }, context) {
    const { refused } = await validateBundleTools(context, bundle?.tools ?? [])
    return below(
      '/bundle',
      refused.flatMap(({ problems }) => problems),
    )
  },
})

type Given = z.output<typeof ImportInput>
type ImportContext = OperationContext<'catalog' | 'registry' | 'sources?'>

async function readGiven(
  { bundle, text = '', file, openapi }: Given,
  { signal }: OperationContext,
): Promise<UncheckedBundle> {
  if (bundle !== undefined) {
    const policies = [...bundle.policies, ...bundle.toolsets].map(({ policy }) => policy)
    const problems = checkSentBundle(bundle, await faultsOfPatterns(policies, signal))
    return { what: 'The bundle', bundle, problems, wrong: [] }
  }
  return { what: file, ...(await readBundleInWorker(text, { file, openapi, signal })) }
}

async function makeSo({ prune, dryRun, openapi }: Given, read: UncheckedBundle, context: ImportContext) {
  const { stores } = context.registry
  const readProtected = async (on: Stores) => {
    const current = await readCurrentBundle(on, context.caller.workspace)
    return { current, underFile: { ...current, policies: withFilePolicy(context, current.policies) } }
  }
  const validateNow = async () => checkBundleChanges((await readProtected(stores)).underFile, read.bundle)
  const checked = await checkBundle(context, read, validateNow)
  // A document describes one service, so it says nothing about the tools of others.
  const namespace = read.format === 'openapi' ? (read.bundle.tools[0]?.namespace ?? undefined) : undefined
  const planOn = async (on: Stores) => {
    const { current, underFile } = await readProtected(on)
    await refuseUnapplicableBundle(checked, underFile, read.bundle)
    const plan = await planBundle(current, read.bundle, { prune, namespace })
    const named = Object.values(openapi?.auth ?? {})
    const secrets = { stores: on, workspace: context.caller.workspace, current, wanted: read.bundle, named }
    const chosen = read.format === 'openapi' ? await findChosenSecrets(secrets) : []
    if (!dryRun && chosen[0] !== undefined) throw chosen[0]
    const warnings = [
      ...chosen.map(({ message, hint }) => `${message} ${hint}`),
      ...read.problems.map(({ message }) => message),
      ...warningsOfBundle(checked, plan),
      ...(prune ? [] : warnMissing(current, read.bundle, namespace)),
      ...warnUnapproved(plan.sources),
    ]
    const destinations = destinationsOfImport(plan, read.bundle)
    return { plan, diffs: await diffsOf(plan, current, read.bundle), warnings, destinations }
  }
  if (dryRun) return { ...toAnswer(await planOn(stores)), applied: false }
  const planned = await stores.transaction(async (inner) => {
    const done = await planOn(inner)
    await requireAllowed(context, inner, done.plan.sources, read.bundle)
    await applyPlan(inner, context, done.plan, read.bundle)
    return done
  }, importing)
  for (const name of planned.plan.sources.remove) context.sources?.stop({ workspace: context.caller.workspace, name })
  return { ...toAnswer(planned), applied: true }
}

const touchedBy = ({ create, change }: PlanPart): readonly string[] => [...create, ...change.map(({ name }) => name)]

/** New servers need the grants of their workspace and a free namespace, as one that is added alone. */
async function requireAllowed(context: ImportContext, stores: Stores, part: PlanPart, wanted: Bundle): Promise<void> {
  const { sources, caller } = context
  const namespaces = wanted.tools.map(({ namespace }) => namespace)
  for (const name of part.create) await refuseTakenNamespace(context, stores, name, namespaces)
  const touched = new Set(touchedBy(part))
  for (const { name, server } of wanted.sources) if (touched.has(name)) sources?.requireGrants(caller.workspace, server)
}

const warnUnapproved = (part: PlanPart): readonly string[] =>
  touchedBy(part).map(
    (name) => `the source ${name} is not started before it is approved: tooldex sources approve ${name}`,
  )

/** Tools of a service that its document no longer has. */
function warnMissing(current: Bundle, wanted: Bundle, namespace: string | undefined): readonly string[] {
  if (namespace === undefined) return []
  const names = new Set(wanted.tools.map(({ name }) => name))
  const left = current.tools.filter((tool) => tool.namespace === namespace && !names.has(tool.name))
  if (left.length === 0) return []
  const listed = left.slice(0, 5).map(({ name }) => name)
  const more = left.length > listed.length ? ` and ${left.length - listed.length} more` : ''
  return [`not in the document, and kept: ${listed.join(', ')}${more}; prune removes them`]
}

/** Maps the problems of a tool to their location in the text, or else in the input. */
async function withPlaces(thrown: unknown, { bundle, text = '', file, openapi }: Given, { signal }: OperationContext) {
  if (!(thrown instanceof TooldexError) || !thrown.problems.some(isInBundle)) return thrown
  const { code, message, hint } = thrown
  const problems =
    bundle === undefined
      ? [...(await locateBundleInWorker(text, { file, openapi, signal }, thrown.problems))].sort(byLocation)
      : below('/bundle', thrown.problems)
  return new TooldexError(code, message, { problems, hint })
}

const isInBundle = ({ pointer }: Problem) =>
  /^\/(?:tools|categories|policies|toolsets|limits|sources)\//.test(pointer ?? '')

const maxDiffs = 50
// Thousands of tools take the embedded engine longer than any other change.
const importing = { withinMs: 300_000 }

async function diffsOf(plan: BundlePlan, current: Bundle, wanted: Bundle): Promise<z.output<typeof ToolDiffText>[]> {
  const [before, after] = [current, wanted].map(({ tools }) => new Map(tools.map((tool) => [tool.name, tool])))
  const diffs: z.output<typeof ToolDiffText>[] = []
  const turn = yieldTurns()
  for (const { name } of plan.change.slice(0, maxDiffs)) {
    const [was, is] = [before?.get(name), after?.get(name)]
    if (was === undefined || is === undefined) continue
    const diff = await diffToolInThread(bundleToolContent(was, null), bundleToolContent(is, null))
    if (diff.class !== 'none') diffs.push({ tool: name, class: diff.class, text: describeDiff(diff) })
    await turn()
  }
  return diffs
}

const toAnswer = <More>({ plan, ...more }: More & { readonly plan: BundlePlan }) => ({
  ...more,
  plan: structuredClone(plan) as z.output<typeof Plan>,
})
