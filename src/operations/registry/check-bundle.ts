import { TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import { takeTurns } from '../../base/take-turns.ts'
import type { Bundle, BundleTool } from '../../contract/bundle.ts'
import type { ToolContent } from '../../contract/registry.ts'
import type { OperationContext } from '../operation.ts'
import { toContent } from './current-bundle.ts'
import { refusalOf, registryOf } from './registry.ts'

/** What is found where the tools of a bundle are looked at one by one. */
export interface CheckedBundle {
  /** Tools that lack what runs them, by name; they can be drafts only. */
  readonly incomplete: ReadonlyMap<string, TooldexError>
}

/** Refuses a bundle with anything wrong in its tools; what is only missing yet is let pass for drafts. */
export async function checkBundle(context: OperationContext, { tools }: Bundle): Promise<CheckedBundle> {
  const refused: TooldexError[] = []
  const incomplete = new Map<string, TooldexError>()
  const rest = takeTurns(context.signal)
  for (const [index, tool] of tools.entries()) {
    await rest()
    const content = toContent(tool, null)
    const problems = await registryOf(context).check(content, context.signal)
    const refusal = inBundle(refusalOf(content, problems), index)
    if (refusal === undefined) continue
    if (isDraft(tool) && errorsOf(problems).every((problem) => isMissing(problem, content)))
      incomplete.set(tool.name, refusal)
    else refused.push(refusal)
  }
  if (refused.length > 0) throw joined(refused)
  return { incomplete }
}

/** Refuses to make a tool incomplete that is more than a draft in the registry. */
export function refuseIncomplete({ incomplete }: CheckedBundle, current: Bundle): void {
  const used = current.tools.filter(({ name, status }) => incomplete.has(name) && status !== 'DRAFT')
  if (used.length > 0) throw joined(used.map(({ name }) => incomplete.get(name) as TooldexError))
}

/** One remark for all of them. */
export function remarkIncomplete({ incomplete }: CheckedBundle): readonly string[] {
  if (incomplete.size === 0) return []
  const names = [...incomplete.keys()]
  const shown = names.slice(0, 5).join(', ')
  const rest = names.length > 5 ? ` and ${names.length - 5} more` : ''
  return [`${shown}${rest}: not complete yet, and cannot be activated before that`]
}

const isDraft = ({ status = 'DRAFT' }: BundleTool): boolean => status === 'DRAFT'
const errorsOf = (problems: readonly Problem[]) => problems.filter(({ severity }) => severity === 'error')

/** Whether a problem is that something of what runs the tool is not there. */
function isMissing({ pointer = '' }: Problem, { scriptContent, executorConfig }: ToolContent): boolean {
  if (pointer === '/scriptContent') return scriptContent === null
  const [, key] = /^\/executorConfig\/([^/]+)$/.exec(pointer) ?? []
  return key !== undefined && executorConfig[key] === undefined
}

/** The same refusal, with the tool that each of its places is in. */
function inBundle(refusal: TooldexError | undefined, index: number): TooldexError | undefined {
  if (refusal === undefined) return undefined
  const problems = refusal.problems.map((each) => ({ ...each, pointer: `/bundle/tools/${index}${each.pointer ?? ''}` }))
  return new TooldexError(refusal.code, refusal.message, { problems, hint: refusal.hint })
}

function joined(refused: readonly TooldexError[]): TooldexError {
  const message = refused.map((each) => each.message).join(' ')
  return new TooldexError('TOOL_INVALID', message, { problems: refused.flatMap((each) => each.problems) })
}
