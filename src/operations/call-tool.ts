import * as z from 'zod'
import { TooldexError } from '../base/errors.ts'
import { CommandPlan, RunOutcome } from '../contract/run.ts'
import { findTool, type OfferedTool } from './find-tool.ts'
import { toolIdOf } from './live-catalogue.ts'
import { defineOperation, type OperationContext } from './operation.ts'

/** Call a tool by name. */
export const callTool = defineOperation({
  name: 'tools.call',
  summary: 'Call a tool, or with dryRun see exactly what a call would run.',
  scope: 'call',
  input: z.object({
    name: z.string().min(1),
    arguments: z.record(z.string(), z.unknown()).nullish(),
    version: z.union([z.int().min(1), z.string()]).nullish(),
    idempotencyKey: z.string().min(1).max(200).nullish(),
    dryRun: z.boolean().nullish(),
  }),
  output: z.union([
    z.object({ tool: z.string(), outcome: RunOutcome }),
    z.object({ tool: z.string(), plan: CommandPlan }),
  ]),
  async handle(input, context) {
    const { catalogue, runner, keys, memory, caller, signal, onProgress } = context
    const found = await findTool(catalogue, input.name)
    if (found.from !== 'config') throw await cannotRun(found, context)
    const { entry, resolved } = found
    const tool = entry.toolName
    if (input.version != null) {
      throw new TooldexError('INPUT_INVALID', `${tool} comes from a config file and has no versions.`, {
        hint: 'Leave version out.',
      })
    }
    const given = input.arguments ?? {}
    if (input.dryRun) return { tool, plan: runner.plan(resolved, given) }
    const run = () => runner.run(resolved, given, { signal, onProgress })
    const outcome = await keys.run(input.idempotencyKey ?? undefined, [tool, given], run)
    if (outcome.status === 'SUCCESS') memory.noteSuccess(caller, toolIdOf(entry))
    return { tool, outcome }
  },
})

/** Registered tools are found and described before there is anything that runs them. */
async function cannotRun({ tool }: OfferedTool, { registry, caller }: OperationContext): Promise<TooldexError> {
  const registered = await registry?.stores.tools.get(caller.workspace, tool.name)
  const kind = registered === undefined ? '' : ` of the kind ${registered.executorType}`
  return new TooldexError('UNAVAILABLE', `${tool.name} is a registered tool${kind}; this release cannot run it yet.`, {
    hint: 'Read about it with describe_tool; tools of configs can be called.',
  })
}
