import * as z from 'zod'
import type { Problem } from '../../base/problem.ts'
import { withDisplayName } from '../../contract/bundle.ts'
import { type ToolContent, ToolDraft } from '../../contract/registry.ts'
import { withDefaultHint } from '../../diagnostics/shape-problems.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { IdOrName } from './inputs.ts'
import { checkContent, contentFields, findRegistered } from './registry.ts'
import { ToolProblem } from './written-tool.ts'

const Verdict = z.object({ valid: z.boolean(), problems: z.array(ToolProblem) })

/** Validates a registered tool. */
export const validateTool = defineOperation({
  name: 'registry.validate',
  summary: 'List all problems of a registered tool.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'post', path: '/tools/{idOrName}/validate', tag: 'tools' },
  input: z.object({ idOrName: IdOrName }),
  output: Verdict,
  async handle({ idOrName }, context) {
    const tool = await findRegistered(context, idOrName)
    return verdictOf(await checkContent(context, contentFields(tool)))
  },
})

/** Validates a draft. */
export const validateDraft = defineOperation({
  name: 'registry.validateDraft',
  summary: 'List all problems of a tool before it is registered.',
  subject: 'tool',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'post', path: '/validate', tag: 'tools' },
  input: ToolDraft.overwrite(withDisplayName),
  output: Verdict,
  async handle(content, context) {
    const problems = await checkContent(context, content)
    // A draft may also be a change of an existing tool, so a taken name is not a problem.
    const { category } = await findToolConflicts(context, content)
    return verdictOf([...problems, ...category])
  },
  validateRemainder: (content, context) => checkContent(context, content),
})

function verdictOf(problems: readonly Problem[]): z.output<typeof Verdict> {
  return { valid: problems.every(({ severity }) => severity !== 'error'), problems: problems.map(withDefaultHint) }
}

/** Conflicts of a new tool with the registry. */
interface PlaceProblems {
  readonly category: readonly Problem[]
  readonly name: readonly Problem[]
}

/** Checks that the category of a new tool exists and its name is free. */
export async function findToolConflicts(
  context: OperationContext<'registry'>,
  { name, categoryId }: ToolContent,
): Promise<PlaceProblems> {
  const { stores } = context.registry
  const { workspace } = context.caller
  const [category, tool] = await Promise.all([
    categoryId === null ? undefined : stores.categories.get(workspace, categoryId),
    stores.tools.get(workspace, name),
  ])
  const isLost = categoryId !== null && category === undefined
  const taken = `a tool named ${name} already exists`
  const hint = 'choose another name, or change that tool'
  return {
    // The default hint of a category applies.
    category: isLost ? [{ severity: 'error', pointer: '/categoryId', message: 'there is no such category' }] : [],
    name: tool === undefined ? [] : [{ severity: 'error', pointer: '/name', message: taken, hint }],
  }
}
