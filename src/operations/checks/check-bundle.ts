import { formatProblem, type Problem } from '../../base/problem.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Bundle, BundlePlan, BundleTool } from '../../contract/bundle.ts'
import type { ToolStatus } from '../../contract/catalog.ts'
import { type ToolContent, type Transition, transitions } from '../../contract/registry.ts'
import { independentOfInvalid } from '../../diagnostics/diagnose.ts'
import { below, hasErrors } from '../../diagnostics/finding.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import { withDefaultHint } from '../../diagnostics/shape-problems.ts'
import { toolDependents } from '../../rules/tool-dependents.ts'
import type { OperationContext } from '../operation.ts'
import { bundleToolContent } from '../registry/current-bundle.ts'
import { checkContent } from '../registry/registry.ts'
import { findMissingProposal } from './replay-gate.ts'

/** A parsed bundle and its problems so far. */
export interface UncheckedBundle {
  /** Its name in messages: `The bundle`, or its file. */
  readonly what: string
  readonly bundle: Bundle
  /** Errors and warnings of its shape. */
  readonly problems: readonly Problem[]
  /** JSON pointers into the bundle at which nothing can be validated. */
  readonly wrong: readonly string[]
  /** The format of the text that it was read from. */
  readonly format?: string
}

/** The problems of one tool, at JSON pointers into the bundle. */
interface ToolProblems {
  readonly name: string
  readonly problems: readonly Problem[]
}

/** The result of validating the tools of a bundle. */
interface ValidatedTools {
  readonly refused: readonly ToolProblems[]
  /** Tools without script or complete executor config, by name; they can only be drafts. */
  readonly incomplete: ReadonlyMap<string, ToolProblems>
  /** The warnings of all other tools, at JSON pointers into the tool. */
  readonly doubtful: readonly ToolProblems[]
}

export interface CheckedBundle extends ValidatedTools {
  readonly what: string
}

/** Rejects a bundle with any problem of its shape or its tools, all reported at once; drafts may be incomplete. */
export async function checkBundle(
  context: OperationContext<'registry'>,
  read: UncheckedBundle,
  validateNow: () => Promise<readonly ToolProblems[]>,
): Promise<CheckedBundle> {
  const { what, problems, bundle, wrong } = read
  const validated = await validateBundleTools(context, bundle.tools)
  if (!hasErrors(problems) && validated.refused.length === 0) return { ...validated, what }
  // Reported together, so that everything can be fixed at once.
  const refused = [...validated.refused, ...(await validateNow())]
  if (!hasErrors(problems)) throw refuseTools(what, refused)
  const isIndependent = independentOfInvalid(wrong, toolDependents)
  const others = refused.flatMap((tool) => tool.problems).filter(({ pointer }) => isIndependent(pointer))
  throw toProblemError({ code: 'BUNDLE_INVALID', what, problems: [...problems, ...others] })
}

/** All problems of tools with a valid shape. */
export async function validateBundleTools(
  context: OperationContext<'registry'>,
  tools: readonly BundleTool[],
): Promise<ValidatedTools> {
  const refused: ToolProblems[] = []
  const incomplete = new Map<string, ToolProblems>()
  const doubtful: ToolProblems[] = []
  const rest = yieldTurns(context.signal)
  for (const [index, tool] of tools.entries()) {
    await rest()
    const content = bundleToolContent(tool, null)
    const problems = await checkContent(context, content)
    if (!hasErrors(problems)) {
      if (problems.length > 0) doubtful.push({ name: tool.name, problems })
      continue
    }
    const found = { name: tool.name, problems: below(`/tools/${index}`, problems) }
    if (isDraft(tool) && errorsOf(problems).every((problem) => isMissing(problem, content)))
      incomplete.set(tool.name, found)
    else refused.push(found)
  }
  return { refused, incomplete, doubtful }
}

/** Rejects changes that are not possible for the stored tools, the same for a dry run and an import. */
export async function refuseUnapplicableBundle(
  { incomplete, what }: CheckedBundle,
  current: Bundle,
  wanted: Bundle,
): Promise<void> {
  const changes = await checkBundleChanges(current, wanted)
  const used = current.tools.filter(({ name, status }) => incomplete.has(name) && status !== 'DRAFT')
  const broken = used.map(({ name }) => incomplete.get(name) as ToolProblems)
  if (broken.length > 0) throw refuseTools(what, [...broken, ...changes])
  if (changes.length > 0)
    throw toProblemError({
      code: 'ILLEGAL_STEP',
      what,
      problems: changes.flatMap(({ problems }) => problems),
      hint: changeHint,
    })
}

const changeHint = 'Fix the listed problems; nothing was changed.'

const maxWarnings = 100

/** The warnings of the tools that an import creates or changes; incomplete ones share one. */
export function warningsOfBundle(
  { incomplete, doubtful }: CheckedBundle,
  { create, change }: BundlePlan,
): readonly string[] {
  const written = new Set([...create, ...change.map(({ name }) => name)])
  const warnings = doubtful
    .filter(({ name }) => written.has(name))
    .flatMap(({ name, problems }) => problems.map((each) => `${name}: ${formatProblem(withDefaultHint(each))}`))
  const rest = warnings.length - maxWarnings
  return [
    ...(incomplete.size === 0 ? [] : [warnIncomplete([...incomplete.keys()])]),
    ...warnings.slice(0, maxWarnings),
    ...(rest > 0 ? [`${rest} more warnings; validate a tool to read its own`] : []),
  ]
}

function warnIncomplete(names: readonly string[]): string {
  const listed = names.slice(0, 5).join(', ')
  const rest = names.length > 5 ? ` and ${names.length - 5} more` : ''
  return `${listed}${rest}: incomplete, and cannot be activated until complete`
}

const isDraft = ({ status = 'DRAFT' }: BundleTool): boolean => status === 'DRAFT'
const errorsOf = (problems: readonly Problem[]) => problems.filter(({ severity }) => severity === 'error')

/** Whether a problem is a missing script or a missing field of the executor config. */
function isMissing({ pointer = '' }: Problem, { scriptContent, executorConfig }: ToolContent): boolean {
  if (pointer === '/scriptContent') return scriptContent === null
  const [, key] = /^\/executorConfig\/([^/]+)$/.exec(pointer) ?? []
  return key !== undefined && executorConfig[key] === undefined
}

const refuseTools = (what: string, refused: readonly ToolProblems[]) =>
  toProblemError({
    code: 'TOOL_INVALID',
    what,
    problems: refused.flatMap((tool) => tool.problems),
    of: refused.map(({ name }) => name),
  })

/** The obstacles to a change of one tool, at JSON pointers into the bundle. */
interface ChangeProblems {
  readonly name: string
  readonly problems: readonly Problem[]
}

const steps = Object.entries(transitions) as [Transition, { from: ToolStatus; to: ToolStatus }][]

/** The transitions from one status to another, over at most one other; undefined if there are none. */
export function findStatusSteps(from: ToolStatus, to: ToolStatus): readonly Transition[] | undefined {
  if (from === to) return []
  const direct = steps.find(([, step]) => step.from === from && step.to === to)
  if (direct !== undefined) return [direct[0]]
  const first = steps.find(([, step]) => step.from === from && step.to === 'ACTIVE')
  const second = steps.find(([, step]) => step.from === 'ACTIVE' && step.to === to)
  return first === undefined || second === undefined ? undefined : [first[0], second[0]]
}

/** All changes of existing tools in a bundle that are not possible. */
export async function checkBundleChanges(current: Bundle, wanted: Bundle): Promise<readonly ChangeProblems[]> {
  const existing = new Map(current.tools.map((tool) => [tool.name, tool]))
  const found: ChangeProblems[] = []
  const turn = yieldTurns()
  for (const [index, next] of wanted.tools.entries()) {
    const now = existing.get(next.name)
    if (now === undefined) continue
    const problems = [...checkStatus(now, next, index), ...checkGate(now, next, { index, current })]
    if (problems.length > 0) found.push({ name: next.name, problems })
    await turn()
  }
  return found
}

function checkStatus(
  { name, status: from = 'DRAFT' }: BundleTool,
  { status: to }: BundleTool,
  index: number,
): Problem[] {
  if (to === undefined || findStatusSteps(from, to) !== undefined) return []
  const next = steps.filter(([, step]) => step.from === from).map(([step, end]) => `${end.to} (${step})`)
  const message = `${name} is ${from} and cannot become ${to}; the steps from ${from} lead to ${next.join(' and ')}`
  const hint = `write another status, or leave it out to keep ${from}`
  return [{ severity: 'error', pointer: `/tools/${index}/status`, message, hint }]
}

/** The requirements of a stored policy, before the bundle replaces it. */
function checkGate(
  now: BundleTool,
  next: BundleTool,
  { index, current: { policies } }: { readonly index: number; readonly current: Bundle },
): Problem[] {
  if (policies.length === 0) return []
  const { status = 'DRAFT' } = now
  const why = findMissingProposal({
    policies,
    current: { ...bundleToolContent(now, null), status },
    next: bundleToolContent(next, null),
  })
  return why === undefined ? [] : [{ severity: 'error', pointer: `/tools/${index}/name`, ...why }]
}
