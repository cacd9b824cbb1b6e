import type * as z from 'zod'
import { TooldexError } from '../base/errors.ts'
import { logged } from '../base/logger.ts'
import { workFor } from '../base/semaphore.ts'
import { type Span, untraced } from '../contract/telemetry.ts'
import { toProblem } from '../diagnostics/finding.ts'
import { findLostKeysInTurns } from '../diagnostics/plain-input.ts'
import { toProblemError } from '../diagnostics/problem-error.ts'
import { invalidInput } from './invalid-input.ts'
import type { Need, Operation, OperationContext, PartialContext, Services } from './operation.ts'
import { parseInTurns, safeParseInTurns } from './parse-in-turns.ts'

/** The single entry point for all surfaces: authorize, parse the input, handle, parse the output, log. */
export async function invoke<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  input: unknown,
  context: PartialContext,
): Promise<z.output<Output>> {
  const { tracing = untraced, trace, caller } = context
  const attributes = { 'tooldex.operation': operation.name, 'tooldex.workspace': caller.workspace }
  return tracing.inSpan(operation.name, { kind: 'server', parent: trace?.traceparent, attributes }, (span) =>
    workFor(`${caller.workspace} ${caller.actor}`, () => run(operation, input, withTrace(context, span))),
  )
}

/** Work for a request belongs to the span of the request. */
function withTrace(context: PartialContext, { traceparent, traceId }: Span): PartialContext {
  return traceparent === context.trace?.traceparent ? context : { ...context, trace: { traceparent, traceId } }
}

async function run<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  input: unknown,
  context: PartialContext,
): Promise<z.output<Output>> {
  const started = performance.now()
  const record = (outcome: string) =>
    context.logger.info(operation.name, { outcome, ms: Math.round(performance.now() - started) })
  try {
    if (!context.scopes.has(operation.scope)) {
      throw new TooldexError('FORBIDDEN', `This needs the scope '${operation.scope}' (${operation.name}).`)
    }
    const served = withServices(operation, context)
    await refuseLostKeys(operation, input)
    const parsed = await safeParseInTurns(operation.input, input)
    if (!parsed.success) throw await invalidInput(operation, { input, issues: parsed.issues }, served)
    const output = await parseInTurns(operation.output, await operation.handle(parsed.data, served))
    record('ok')
    return output
  } catch (thrown) {
    const error = logged(context.logger, thrown)
    record(error.code)
    throw error
  }
}

/** Rejects keys that a schema would silently drop. */
async function refuseLostKeys({ subject }: { readonly subject?: string }, input: unknown): Promise<void> {
  if (subject === undefined) return
  const problems = (await findLostKeysInTurns(input)).map((finding) => toProblem(finding))
  if (problems.length > 0) throw toProblemError({ code: 'INPUT_INVALID', what: `The ${subject}`, problems })
}

/** The messages for services that a process may lack. */
const missing: Readonly<Partial<Record<keyof Services, readonly [message: string, hint: string]>>> = {
  registry: ['There is no database to store tools in.', 'Start one with: tooldex serve'],
  runs: ['Nothing is recorded here: there is no database.', 'Start a server with: tooldex serve'],
  database: ['No database is open here.', 'Set DATABASE_URL or TOOLDEX_HOME.'],
  metrics: ['No metrics are collected here.', 'Request them from a server: GET /metrics'],
}

/** The context with the services that an operation needs; the error names the first missing one. */
export function withServices<Needs extends Need>(
  { needs = [] }: { readonly needs?: readonly Needs[] },
  context: PartialContext,
): OperationContext<Needs> {
  const name = needs.find((need) => !need.endsWith('?') && context[need as keyof Services] === undefined)
  if (name === undefined) return context as OperationContext<Needs>
  const [message, hint] = missing[name as keyof Services] ?? [
    `This process has no ${name}.`,
    'Send the request to a server.',
  ]
  throw new TooldexError('UNAVAILABLE', message, { hint })
}
