import * as z from 'zod'
import { yieldTurns } from '../../base/yield-turns.ts'
import { PolicyName } from '../../contract/bundle.ts'
import { Policy } from '../../contract/policy.ts'
import type { PastCall, PastCallQuery } from '../../contract/run-history.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { refuseInvalidPolicy } from '../registry/policies.ts'
import { CallDecider, type Decision, type Outcome, outcomes, TargetFinder } from './decide-call.ts'

const dayMs = 86_400_000
// Inputs may be large.
const batch = 50

const Counts = z.object(Object.fromEntries(outcomes.map((outcome) => [outcome, z.int()])) as Record<Outcome, z.ZodInt>)
const Newly = z.object({ blocked: z.int(), bounded: z.int(), approval: z.int(), allowed: z.int() })

/** A recorded call whose outcome is not `pass`, or differs from that of the current policies. */
const Example = z.object({
  executionId: z.string(),
  createdAt: z.string(),
  outcome: z.enum(outcomes),
  current: z.enum(outcomes).describe('The outcome under the policies in force.'),
  message: z.string().optional(),
  argument: z.string().optional().describe('The argument out of bounds.'),
  value: z.unknown().optional().describe('The recorded value of the argument, shortened.'),
})

/** The result of a simulation. */
const SimulationReport = z.object({
  since: z.string(),
  executions: z.int().describe('The number of recorded calls that were decided.'),
  truncated: z.boolean().describe('Whether there are more calls, or more pairs of caller and tool, than the limits.'),
  outcomes: Counts,
  newly: Newly.describe('The calls whose outcome differs from that under the policies in force.'),
  groups: z
    .array(
      z.object({
        caller: z.string().nullable(),
        tool: z.string(),
        executions: z.int(),
        outcomes: Counts,
        newly: Newly,
        examples: z.array(Example),
      }),
    )
    .describe('By caller and tool: most refused calls first.'),
})
type Report = z.output<typeof SimulationReport>
type Group = Report['groups'][number]

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
    await refuseInvalidPolicy(policy, context, ['policy'])
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

const maxGroups = 500
const maxExamples = 3

/** Counts decisions in total and by caller and tool, in bounded memory. */
class SimulationTally {
  readonly #total = { executions: 0, ...noCounts() }
  readonly #groups = new Map<string, Group>()
  #isFull = false

  add(call: PastCall, simulated: Decision, current: Decision): void {
    this.#total.executions++
    count(this.#total, simulated.outcome, current.outcome)
    const isNotable = simulated.outcome !== 'pass' || simulated.outcome !== current.outcome
    const group = this.#groupOf(call, isNotable)
    if (group === undefined) return
    group.executions++
    count(group, simulated.outcome, current.outcome)
    if (!isNotable || group.examples.length >= maxExamples) return
    const { id: executionId, createdAt } = call
    group.examples.push({ executionId, createdAt, current: current.outcome, ...simulated })
  }

  finish(since: string, hasMore: boolean): Report {
    const refused = ({ outcomes: { blocked, bounded } }: Group) => blocked + bounded
    const groups = [...this.#groups.values()].sort(
      (a, b) => refused(b) - refused(a) || b.outcomes.approval - a.outcomes.approval || b.executions - a.executions,
    )
    return { since, ...this.#total, truncated: hasMore || this.#isFull, groups }
  }

  /** Beyond the limit, a pair with an example takes the slot of one without. */
  #groupOf({ callerId: caller, toolName: tool }: PastCall, isNotable: boolean): Group | undefined {
    const key = JSON.stringify([caller, tool])
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    if (this.#groups.size >= maxGroups) {
      this.#isFull = true
      const quiet = isNotable ? [...this.#groups].find(([, { examples }]) => examples.length === 0) : undefined
      if (quiet === undefined) return undefined
      this.#groups.delete(quiet[0])
    }
    const group = { caller, tool, executions: 0, ...noCounts(), examples: [] }
    this.#groups.set(key, group)
    return group
  }
}

const noCounts = () => ({
  outcomes: { pass: 0, approval: 0, bounded: 0, blocked: 0, undecided: 0 },
  newly: { blocked: 0, bounded: 0, approval: 0, allowed: 0 },
})

function count(into: Pick<Group, 'outcomes' | 'newly'>, simulated: Outcome, current: Outcome): void {
  into.outcomes[simulated]++
  if (simulated === current || simulated === 'undecided') return
  into.newly[simulated === 'pass' ? 'allowed' : simulated]++
}
