import * as z from 'zod'
import { yieldTurns } from '../../base/yield-turns.ts'
import { PolicyName } from '../../contract/bundle.ts'
import { Policy } from '../../contract/policy.ts'
import type { PastCallQuery } from '../../contract/run-history.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { refuseSenseless } from '../registry/policies.ts'
import { CallDecider, TargetFinder } from './decide-call.ts'
import { SimulationReport, SimulationTally } from './simulation-report.ts'

const dayMs = 86_400_000
// Inputs may be large.
const batch = 50

/** Simulates a policy over the recorded calls. */
export const simulatePolicy = defineOperation({
  name: 'policies.simulate',
  summary: 'Show what a policy would have blocked, bounded or sent to approval, over the recorded calls.',
  scope: 'write',
  needs: ['catalog', 'registry', 'runner'],
  http: { method: 'post', path: '/policies/simulate', tag: 'policies', deadlineMs: 600_000 },
  input: z.strictObject({
    policy: Policy,
    name: PolicyName.optional().describe('The stored policy that this one replaces; without it, this one is added.'),
    days: z.int().min(1).max(3650).default(30).describe('Only calls of the last days.'),
    caller: z.string().max(300).optional().describe('Only calls of this caller, such as key:ci.'),
    tool: z.string().max(300).optional().describe('Only calls of the tool with this name.'),
    toolset: z.string().max(300).optional().describe('Only calls that this toolset restricted.'),
    limit: z.int().min(1).max(1_000_000).default(200_000).describe('Maximum number of calls, newest first.'),
  }),
  output: SimulationReport,
  async handle({ policy, name, days, limit, ...filters }, context) {
    await refuseSenseless(policy, context, ['policy'])
    const stored = await context.registry.stores.policies.list(context.caller.workspace)
    const others = stored.filter((each) => each.name !== name)
    const current = new CallDecider(context, stored)
    const simulated = new CallDecider(context, [...others, { name: name ?? 'in the file', policy }])
    const since = new Date(Date.now() - days * dayMs).toISOString()
    return tally(context, { current, simulated, limit, query: { since, ...filters } })
  },
})

interface Simulation {
  readonly current: CallDecider
  readonly simulated: CallDecider
  readonly limit: number
  readonly query: PastCallQuery
}

async function tally(
  context: OperationContext<'catalog' | 'registry' | 'runner'>,
  { current, simulated, limit, query }: Simulation,
) {
  const { executions } = context.registry.stores
  const { workspace } = context.caller
  const targets = new TargetFinder(context)
  const report = new SimulationTally()
  const turn = yieldTurns(context.signal)
  let left = limit
  for await (const page of executions.pastCalls(workspace, query)) {
    const calls = page.slice(0, left)
    for (let start = 0; start < calls.length; start += batch) {
      const found = await Promise.all(
        calls.slice(start, start + batch).map(async (call) => ({ call, target: await targets.find(call) })),
      )
      const bounded = found.filter((one) => current.needsInput(one) || simulated.needsInput(one))
      const inputs = await executions.inputs(
        workspace,
        bounded.map(({ call }) => call.id),
      )
      for (const one of found) {
        const input = inputs.get(one.call.id)
        report.add(one.call, await simulated.decide(one, input), await current.decide(one, input))
        await turn()
      }
    }
    left -= calls.length
    if (page.length > calls.length) return report.finish(query.since, true)
  }
  return report.finish(query.since, false)
}
