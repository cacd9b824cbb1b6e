import { TooldexError, toTooldexError } from '../../base/errors.ts'
import type { Execution } from '../../contract/execution.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import type { RegisteredTool, ToolContent } from '../../contract/registry.ts'
import type { Difference, ReplayedRun } from '../../contract/tool-diff.ts'
import { toolRulesFor } from '../../rules/policy-rules.ts'
import { findUnboundArgument, requiresApproval } from '../../rules/protection.ts'
import { toRunnableTool } from '../../rules/runnable-tool.ts'
import { previewValue } from '../../runs/preview.ts'
import { diffJson } from '../../versions/diff-json.ts'
import type { OperationContext, ToolContext } from '../operation.ts'
import { policiesOf } from '../search/tool-view.ts'

const atOnce = 4
const limits = { differences: 5, bytes: 400 }

/** Replays the recorded inputs of a tool against a changed one; each run is recorded, and none counts as a call. */
export async function replayRuns(
  context: OperationContext<'catalog' | 'registry' | 'runs'>,
  tool: RegisteredTool,
  { next, versions, limit }: { next: ToolContent; versions: readonly number[]; limit: number },
): Promise<readonly ReplayedRun[]> {
  refuseHarm(context, tool, next)
  const runnable = await toRunnable(context, tool, next)
  const samples = await findSamples(context, tool, versions, limit)
  const runs: ReplayedRun[] = []
  for (let start = 0; start < samples.length; start += atOnce)
    runs.push(
      ...(await Promise.all(samples.slice(start, start + atOnce).map((sample) => replay(context, runnable, sample)))),
    )
  return runs
}

/** Only read-only tools may be replayed, and only by callers who may call them. */
function refuseHarm({ scopes }: OperationContext, tool: RegisteredTool, next: ToolContent): void {
  if (!scopes.has('call'))
    throw new TooldexError('FORBIDDEN', "Replaying runs the tool, so it needs the scope 'call' in addition to 'write'.")
  if (tool.annotations.readOnlyHint === true && next.annotations.readOnlyHint === true) return
  const which = tool.annotations.readOnlyHint === true ? 'with the change' : 'as it is'
  throw new TooldexError(
    'ILLEGAL_STEP',
    `${tool.name} is not marked read-only ${which}: a run might change something.`,
    {
      hint: 'Only tools with annotations.readOnlyHint are replayed. If it is read-only, set this in a separate version first.',
    },
  )
}

/** The changed tool, run under the policies of the caller; a replay cannot bypass an approval or a bound. */
async function toRunnable(context: ToolContext, tool: RegisteredTool, next: ToolContent) {
  const { caller, scopes } = context
  const policies = await policiesOf(context)
  const rules = toolRulesFor(
    policies.map(({ policy }) => policy),
    tool.name,
    caller,
  )
  if (rules === undefined) throw new TooldexError('POLICY_REFUSED', `A policy does not allow you to run ${tool.name}.`)
  const unbound = findUnboundArgument(next, tool, rules)
  if (unbound !== undefined)
    throw new TooldexError(
      'POLICY_REFUSED',
      `A policy bounds the argument '${unbound}' of ${tool.name}, which the proposed change does not have.`,
      { hint: 'Keep the argument, or ask an admin to change the policy.' },
    )
  const needsApproval =
    requiresApproval(tool) || requiresApproval(next) || rules.some((rule) => rule.requireApproval === true)
  if (needsApproval && !scopes.has('admin'))
    throw new TooldexError(
      'FORBIDDEN',
      `Each call of ${tool.name} requires approval; replaying it needs the scope 'admin'.`,
    )
  // The proposed version has no number yet.
  return { ...toRunnableTool({ ...tool, ...next }, rules), version: null }
}

async function findSamples(
  { registry, caller }: OperationContext<'registry'>,
  tool: RegisteredTool,
  versions: readonly number[],
  limit: number,
): Promise<readonly Execution[]> {
  for (const version of versions) {
    const found = await registry.stores.executions.samples(caller.workspace, tool.id, version, limit)
    if (found.length > 0) return found
  }
  return []
}

async function replay(
  context: OperationContext<'catalog' | 'registry' | 'runs'>,
  tool: RunnableTool,
  sample: Execution,
): Promise<ReplayedRun> {
  const about = { recordedId: sample.id, inputData: sample.inputData }
  const input = sample.inputData as Readonly<Record<string, unknown>>
  const { caller, signal, trace } = context
  try {
    const options = { wait: true, purpose: 'replay', signal, ...trace }
    const run = await context.runs.execute(caller, tool, input, options)
    if (run.status !== 'SUCCESS') {
      const error = { code: run.errorCode ?? run.status, message: run.errorMessage ?? run.status }
      return { ...about, executionId: run.id, outcome: 'failed', differences: [], error }
    }
    const differences = await compare(context, sample, run)
    const outcome = differences.length === 0 ? 'same' : 'differs'
    return { ...about, executionId: run.id, outcome, differences: [...differences], error: null }
  } catch (thrown) {
    const { code, message } = toTooldexError(thrown)
    if (code === 'INTERNAL' || code === 'UNAVAILABLE' || code === 'TOO_BUSY' || code === 'SHUTTING_DOWN') throw thrown
    return { ...about, executionId: null, outcome: 'failed', differences: [], error: { code, message } }
  }
}

async function compare(
  context: OperationContext<'registry'>,
  sample: Execution,
  run: Execution,
): Promise<readonly Difference[]> {
  const [before, after] = await Promise.all([wholeOf(context, sample), wholeOf(context, run)])
  const differences = diffJson(before, after, limits.differences)
  return differences.map(({ pointer, ...sides }) => {
    const { before: left, after: right } = shorten(sides.before, sides.after)
    return { pointer, ...('before' in sides ? { before: left } : {}), ...('after' in sides ? { after: right } : {}) }
  })
}

/** Texts are shown from their first difference on. */
function shorten(before: unknown, after: unknown): { before: unknown; after: unknown } {
  if (typeof before !== 'string' || typeof after !== 'string')
    return { before: previewValue(before, limits.bytes), after: previewValue(after, limits.bytes) }
  let at = 0
  while (at < before.length && before[at] === after[at]) at++
  const line = before.lastIndexOf('\n', at - 1) + 1
  const start = at - line > limits.bytes / 2 ? at : line
  const cut = (text: string) =>
    previewValue(`${start > 0 ? '…' : ''}${text.slice(start, start + limits.bytes)}`, limits.bytes)
  return { before: cut(before), after: cut(after) }
}

/** A large output is compared as a whole, not by its beginning. */
async function wholeOf(context: OperationContext<'registry'>, { id, outputData }: Execution): Promise<unknown> {
  const output = await context.registry.stores.executions.wholeOutput(context.caller.workspace, id)
  if (output === undefined) return outputData
  return output.mediaType === 'application/json' ? JSON.parse(output.content) : output.content
}
