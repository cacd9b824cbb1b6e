import { sameJson } from '../base/same-json.ts'
import { toMcpNames } from './annotations.ts'
import type { ToolRule } from './policy.ts'
import type { RegisteredTool, ToolContent } from './registry.ts'

/** Whether a tool itself asks for approval of each call. */
export const requiresApproval = ({ annotations }: Pick<ToolContent, 'annotations'>): boolean =>
  toMcpNames(annotations).requiresApproval === true

/** The protection that a newer definition of a tool has and an older one lacks; undefined where the older is as strict. */
export function findTightening(older: ToolContent, newer: ToolContent): string | undefined {
  if (requiresApproval(newer) && !requiresApproval(older)) return 'requires approval of each call'
  if (isolationRank(newer) > isolationRank(older)) return 'runs in a stricter sandbox'
  for (const [option, protection] of grants)
    if (older.executorConfig[option] === true && newer.executorConfig[option] !== true) return protection
  return undefined
}

/** Options of an executor config that widen what a run can reach, with the protection that leaving them out is. */
const grants = [
  ['network', 'has no network'],
  ['allowPrivate', 'reaches no private addresses'],
] as const

const isolationRanks: Readonly<Record<string, number>> = { limited: 0, confined: 2, isolated: 3 }

/** Commands run without a sandbox unless they ask for one; scripts get the best sandbox there is. */
function isolationRank({ executorType, executorConfig: { isolation } }: ToolContent): number {
  if (typeof isolation === 'string') return isolationRanks[isolation] ?? 1
  return executorType === 'cli' ? 0 : 1
}

/** A pinned version of a tool with the approval that its latest version requires: the stricter of both holds. */
export function withLatestProtection(pinned: RegisteredTool, latest: RegisteredTool): RegisteredTool {
  if (!requiresApproval(latest) || requiresApproval(pinned)) return pinned
  return { ...pinned, annotations: { ...pinned.annotations, requiresApproval: true } }
}

/** An argument that a rule bounds and a pinned version does not declare, so that the bound would not hold for it. */
export function findUnboundArgument(
  pinned: ToolContent,
  latest: ToolContent,
  rules: readonly Pick<ToolRule, 'args'>[],
): string | undefined {
  if (sameJson(pinned.inputSchema, latest.inputSchema)) return undefined
  const { properties } = pinned.inputSchema
  const declared = typeof properties === 'object' && properties !== null ? properties : {}
  return rules.flatMap(({ args }) => Object.keys(args)).find((name) => !Object.hasOwn(declared, name))
}
