import { TooldexError } from '../../base/errors.ts'
import { sameJson } from '../../base/json-values.ts'
import type { BundlePolicy } from '../../contract/bundle.ts'
import type { RegisteredTool, ToolContent } from '../../contract/registry.ts'
import type { ReplayCounts } from '../../contract/tool-diff.ts'

// The input, behavior and output of a tool; all other fields are wording.
const behaviour = ['inputSchema', 'outputSchema', 'executorType', 'executorConfig', 'scriptContent'] as const

/** Whether a change affects the behavior of a tool. */
export const changesBehaviour = (before: ToolContent, after: ToolContent): boolean =>
  behaviour.some((field) => !sameJson(before[field], after[field]))

/** The number of recorded inputs that must give the same output before a change, by the strictest policy. */
function replaysNeeded(policies: readonly BundlePolicy[], toolName: string): number {
  const rules = policies.map(({ policy: { tools } }) => (Object.hasOwn(tools, toolName) ? tools[toolName] : undefined))
  return Math.max(0, ...rules.map((rule) => rule?.requireReplay ?? 0))
}

/** A change, and the policies to check it against. */
interface Gate<Current = ToolContent & Pick<RegisteredTool, 'status'>> {
  readonly policies: readonly BundlePolicy[]
  readonly current: Current
  readonly next: ToolContent
}

/**
 * Rejects acceptance of a change of behavior until the number of recorded inputs that a policy requires gave the same
 * output.
 */
export function refuseWithoutReplay(
  { policies, current, next }: Gate<RegisteredTool>,
  proposal: { readonly id: string; readonly replay: ReplayCounts | null },
): void {
  if (current.status === 'DRAFT' || !changesBehaviour(current, next)) return
  const needed = replaysNeeded(policies, current.name)
  if (needed === 0) return
  const { replay } = proposal
  const hint = `Run: tooldex tools replay ${proposal.id} --limit ${Math.max(needed, 20)}`
  const rule = `A policy requires that ${needed} recorded input(s) of ${current.name} give the same output after a change`
  if (replay === null) throw new TooldexError('ILLEGAL_STEP', `${rule}; none was replayed.`, { hint })
  if (replay.version !== current.version) {
    const message = `${rule}; they were replayed against version ${replay.version}, and the current version is ${current.version}.`
    throw new TooldexError('ILLEGAL_STEP', message, { hint })
  }
  const { same, differs, failed } = replay
  if (same >= needed && differs === 0 && failed === 0) return
  const message = `${rule}: ${same} matched, ${differs} differed and ${failed} failed.`
  throw new TooldexError('ILLEGAL_STEP', message, {
    hint:
      differs + failed === 0
        ? 'Call the current tool a few more times to record more inputs, and replay again.'
        : 'Show the differences with: tooldex tools proposal ID. Fix the change and propose it again, or change the policy.',
  })
}

/** The reason to reject a direct change of behavior: a policy requires a replay, which only a proposal can have. */
export function findMissingProposal({ policies, current, next }: Gate) {
  if (current.status === 'DRAFT' || replaysNeeded(policies, current.name) === 0) return undefined
  if (!changesBehaviour(current, next)) return undefined
  return {
    message: `A policy requires that changes of ${current.name} are replayed on recorded inputs first.`,
    hint: 'Propose the change (tooldex tools propose), replay it (tooldex tools replay), and accept it (tooldex tools accept).',
  }
}

/** Rejects such a change. */
export function refuseWithoutProposal(gate: Gate): void {
  const why = findMissingProposal(gate)
  if (why !== undefined) throw new TooldexError('ILLEGAL_STEP', why.message, { hint: why.hint })
}
