import * as z from 'zod'
import { TooldexError } from '../base/errors.ts'
import { CommandPlan, RunOutcome } from '../contract/run.ts'
import { findTool } from './find-tool.ts'
import { toolIdOf } from './live-catalogue.ts'
import { defineOperation } from './operation.ts'

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
  async handle(input, { catalogue, runner, keys, memory, signal, onProgress }) {
    const { entry, resolved } = await findTool(catalogue, input.name)
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
    if (outcome.status === 'SUCCESS') memory.noteSuccess(toolIdOf(entry))
    return { tool, outcome }
  },
})
