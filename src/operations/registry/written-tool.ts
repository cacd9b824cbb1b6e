import * as z from 'zod'
import type { Problem } from '../../base/problem.ts'
import type { BundlePolicy } from '../../contract/bundle.ts'
import { RegisteredTool, type ToolContent } from '../../contract/registry.ts'
import type { ChangeOptions, Stores } from '../../contract/stores.ts'
import { withDefaultHint } from '../../diagnostics/shape-problems.ts'
import { refuseUnsafeChange } from '../checks/protection-gate.ts'
import type { OperationContext } from '../operation.ts'
import { policiesOf } from '../search/tool-view.ts'
import { refuseCodeWithoutAdmin, refuseInvalidTool } from './registry.ts'

/** A problem of a tool in a response. */
export const ToolProblem = z.object({
  severity: z.enum(['error', 'warning']),
  pointer: z.string().optional(),
  message: z.string(),
  hint: z.string().optional(),
  line: z.int().optional(),
  column: z.int().optional(),
})

/** The warnings of the check of a written tool. */
export const writeWarnings = {
  warnings: z.array(ToolProblem).optional().describe('Absent if there are none.'),
}

/** A tool after a write. */
export const WrittenTool = RegisteredTool.extend(writeWarnings)
export type WrittenTool = z.infer<typeof WrittenTool>

/** Adds the warnings of a check to the written resource. */
export function withWarnings<Written extends object>(
  written: Written,
  problems: readonly Problem[],
): Written & Pick<WrittenTool, 'warnings'> {
  const warnings = problems.filter(({ severity }) => severity === 'warning').map(withDefaultHint)
  return warnings.length === 0 ? written : { ...written, warnings }
}

type ToolEdit = Parameters<typeof refuseUnsafeChange>[1] & { readonly current: RegisteredTool }

interface ToolWrite {
  /** The stores of the transaction of the caller, with the policies that were read before it. */
  readonly inside?: { readonly stores: Stores; readonly policies: readonly BundlePolicy[] }
  readonly make: (current: RegisteredTool) => ToolContent
  /** A further check of the change. */
  readonly gate?: (edit: ToolEdit) => void
  readonly proposal?: Parameters<typeof refuseUnsafeChange>[2]
  readonly options: ChangeOptions
}

/** Changes a tool if the caller may, and if its next content is valid; returns it with its warnings. */
export async function changeRegisteredTool(
  context: OperationContext<'catalog' | 'registry'>,
  idOrName: string,
  { inside, make, gate, proposal, options }: ToolWrite,
): Promise<WrittenTool> {
  const { stores } = inside ?? context.registry
  const policies = inside?.policies ?? (await policiesOf(context))
  let problems: readonly Problem[] = []
  const check = async (current: RegisteredTool) => {
    const next = make(current)
    await refuseCodeWithoutAdmin(context, current, next)
    problems = await refuseInvalidTool(context, next)
    await refuseUnsafeChange(context, { policies, current, next }, proposal)
    gate?.({ policies, current, next })
    return next
  }
  const { tool, changed } = await stores.tools.change(context.caller, idOrName, check, options)
  return withWarnings(
    tool,
    changed || options.changelog === undefined ? problems : [...problems, unchanged(tool, options)],
  )
}

/** The warning of a write with a changelog that made no version, because the content is the same. */
const unchanged = ({ name }: RegisteredTool, { backTo }: ChangeOptions): Problem => {
  const same = backTo === undefined ? 'these values' : `the content of version ${backTo}`
  const message = `${name} already has ${same}; no version was created, and the changelog is not stored`
  return { severity: 'warning', message }
}
