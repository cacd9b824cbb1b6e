import * as z from 'zod'
import type { PastCall } from '../../contract/run-history.ts'
import { type Decision, type Outcome, outcomes } from './decide-call.ts'

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
export const SimulationReport = z.object({
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

const maxGroups = 500
const maxExamples = 3

/** Counts decisions in total and by caller and tool, in bounded memory. */
export class SimulationTally {
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
