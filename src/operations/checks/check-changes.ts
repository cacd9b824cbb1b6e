import type { Problem } from '../../base/problem.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Bundle, BundleTool } from '../../contract/bundle.ts'
import { type Transition, transitions } from '../../contract/registry.ts'
import type { ToolStatus } from '../../contract/tool-state.ts'
import { toContent } from '../registry/current-bundle.ts'
import { findUnproposed } from './replay-gate.ts'

/** The obstacles to a change of one tool, at JSON pointers into the bundle. */
interface ChangeProblems {
  readonly name: string
  readonly problems: readonly Problem[]
}

const steps = Object.entries(transitions) as [Transition, { from: ToolStatus; to: ToolStatus }][]

/** The transitions from one status to another, over at most one other; undefined if there are none. */
export function findSteps(from: ToolStatus, to: ToolStatus): readonly Transition[] | undefined {
  if (from === to) return []
  const direct = steps.find(([, step]) => step.from === from && step.to === to)
  if (direct !== undefined) return [direct[0]]
  const first = steps.find(([, step]) => step.from === from && step.to === 'ACTIVE')
  const second = steps.find(([, step]) => step.from === 'ACTIVE' && step.to === to)
  return first === undefined || second === undefined ? undefined : [first[0], second[0]]
}

/** All changes of existing tools in a bundle that are not possible. */
export async function checkChanges(current: Bundle, wanted: Bundle): Promise<readonly ChangeProblems[]> {
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
  if (to === undefined || findSteps(from, to) !== undefined) return []
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
  const why = findUnproposed({
    policies,
    current: { ...toContent(now, null), status },
    next: toContent(next, null),
  })
  return why === undefined ? [] : [{ severity: 'error', pointer: `/tools/${index}/name`, ...why }]
}
