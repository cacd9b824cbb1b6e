import * as z from 'zod'
import { ToolDraft } from '../../contract/registry.ts'
import { defineOperation } from '../operation.ts'
import { checkRest } from './check-rest.ts'
import { IdOrName } from './inputs.ts'
import { contentOf, findRegistered, registryOf } from './registry.ts'

const Finding = z.object({
  severity: z.enum(['error', 'warning']),
  pointer: z.string().optional(),
  message: z.string(),
  hint: z.string().optional(),
  line: z.int().optional(),
  column: z.int().optional(),
})
const Verdict = z.object({ valid: z.boolean(), problems: z.array(Finding) })

/** Check a tool that is registered. */
export const validateTool = defineOperation({
  name: 'registry.validate',
  summary: 'Say everything that is wrong with a registered tool.',
  scope: 'read',
  http: { method: 'post', path: '/tools/{idOrName}/validate', tag: 'tools' },
  input: z.object({ idOrName: IdOrName }),
  output: Verdict,
  async handle({ idOrName }, context) {
    const tool = await findRegistered(context, idOrName)
    return verdictOf(await registryOf(context).check(contentOf(tool), context.signal))
  },
})

/** Check a draft. */
export const validateDraft = defineOperation({
  name: 'registry.validateDraft',
  summary: 'Say everything that is wrong with a tool before it is registered.',
  takes: 'tool',
  scope: 'read',
  http: { method: 'post', path: '/validate', tag: 'tools' },
  input: ToolDraft,
  output: Verdict,
  async handle(content, context) {
    return verdictOf(await registryOf(context).check(content, context.signal))
  },
  judgeRest: checkRest,
})

function verdictOf(problems: readonly z.input<typeof Finding>[]): z.output<typeof Verdict> {
  return { valid: problems.every(({ severity }) => severity !== 'error'), problems: [...problems] }
}
