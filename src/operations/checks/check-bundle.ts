import type { Problem } from '../../base/problem.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Bundle, BundleTool } from '../../contract/bundle.ts'
import type { ToolContent } from '../../contract/registry.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import { hasErrors } from '../../documents/typed-yaml.ts'
import type { OperationContext } from '../operation.ts'
import { toContent } from '../registry/current-bundle.ts'
import { checkContent } from '../registry/registry.ts'
import { checkChanges } from './check-changes.ts'
import { dropDependentProblems } from './check-remainder.ts'

/** What was read, and what is known to be wrong with it. */
export interface UncheckedBundle {
  /** What it is called: `The bundle`, or its file. */
  readonly what: string
  readonly bundle: Bundle
  /** Of its shape: errors and warnings. */
  readonly problems: readonly Problem[]
  /** JSON pointers into the bundle at which nothing can be said. */
  readonly wrong: readonly string[]
}

/** What is wrong with one tool, at JSON pointers into the bundle. */
interface ToolProblems {
  readonly name: string
  readonly problems: readonly Problem[]
}

/** What is found where the tools of a bundle are looked at one by one. */
interface ValidatedTools {
  readonly refused: readonly ToolProblems[]
  /** Tools that lack what runs them, by name; they can be drafts only. */
  readonly incomplete: ReadonlyMap<string, ToolProblems>
}

export interface CheckedBundle extends ValidatedTools {
  readonly what: string
}

/** Refuses a bundle with anything wrong in its shape or its tools, all at once; what is only missing yet is let pass for drafts. */
export async function checkBundle(
  context: OperationContext,
  read: UncheckedBundle,
  validateNow: () => Promise<readonly ToolProblems[]>,
): Promise<CheckedBundle> {
  const { what, problems, bundle, wrong } = read
  const judged = await validateTools(context, bundle.tools, wrong)
  if (!hasErrors(problems) && judged.refused.length === 0) return { ...judged, what }
  // Whoever mends the rest mends this too.
  const refused = [...judged.refused, ...(await validateNow())]
  const found = refused.flatMap((tool) => tool.problems)
  if (hasErrors(problems)) throw toProblemError({ code: 'BUNDLE_INVALID', what, problems: [...problems, ...found] })
  throw refuseTools(what, refused)
}

/** Everything that is wrong with tools whose shape is right, where some have not even that. */
export async function validateTools(
  context: OperationContext,
  tools: readonly BundleTool[],
  wrong: readonly string[] = [],
): Promise<ValidatedTools> {
  const refused: ToolProblems[] = []
  const incomplete = new Map<string, ToolProblems>()
  const wrongOf = byTool(wrong)
  const rest = yieldTurns(context.signal)
  for (const [index, tool] of tools.entries()) {
    await rest()
    const content = toContent(tool, null)
    const problems = await checkContent(context, content)
    if (!hasErrors(problems)) continue
    const at = `/tools/${index}`
    const placed = problems.map((each) => ({ ...each, pointer: `${at}${each.pointer ?? ''}` }))
    const told = { name: tool.name, problems: dropDependentProblems(placed, wrongOf.get(String(index)) ?? []) }
    if (isDraft(tool) && errorsOf(problems).every((problem) => isMissing(problem, content)))
      incomplete.set(tool.name, told)
    else if (hasErrors(told.problems)) refused.push(told)
  }
  return { refused, incomplete }
}

/** The pointers that lead into each tool, by its index. */
function byTool(wrong: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const pointer of wrong) {
    const [kind, index = ''] = pointer.split('/').slice(1)
    if (kind !== 'tools') continue
    const group = groups.get(index)
    if (group === undefined) groups.set(index, [pointer])
    else group.push(pointer)
  }
  return groups
}

/** Refuses what cannot be done to the tools that the registry has: the same whether it is only tried or done. */
export function refuseUnapplicable({ incomplete, what }: CheckedBundle, current: Bundle, wanted: Bundle): void {
  const changes = checkChanges(current, wanted)
  const used = current.tools.filter(({ name, status }) => incomplete.has(name) && status !== 'DRAFT')
  const spoilt = used.map(({ name }) => incomplete.get(name) as ToolProblems)
  if (spoilt.length > 0) throw refuseTools(what, [...spoilt, ...changes])
  if (changes.length > 0)
    throw toProblemError({
      code: 'ILLEGAL_STEP',
      what,
      problems: changes.flatMap(({ problems }) => problems),
      hint: changeHint,
    })
}

const changeHint = 'Fix the listed problems; nothing was changed.'

/** One remark for all of them. */
export function warnIncomplete({ incomplete }: CheckedBundle): readonly string[] {
  if (incomplete.size === 0) return []
  const names = [...incomplete.keys()]
  const shown = names.slice(0, 5).join(', ')
  const rest = names.length > 5 ? ` and ${names.length - 5} more` : ''
  return [`${shown}${rest}: incomplete, and cannot be activated until complete`]
}

const isDraft = ({ status = 'DRAFT' }: BundleTool): boolean => status === 'DRAFT'
const errorsOf = (problems: readonly Problem[]) => problems.filter(({ severity }) => severity === 'error')

/** Whether a problem is that something of what runs the tool is not there. */
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
