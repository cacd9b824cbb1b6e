import * as z from 'zod'
import { TooldexError } from '../base/errors.ts'
import { toLoggedError } from '../base/logger.ts'
import type { Problem } from '../base/problem.ts'
import { workFor } from '../base/semaphore.ts'
import { yieldTurns } from '../base/yield-turns.ts'
import { type Span, untraced } from '../contract/telemetry.ts'
import { dropInvalidParts, independentOfInvalid } from '../diagnostics/diagnose.ts'
import { toProblem } from '../diagnostics/finding.ts'
import { findLostKeysInTurns } from '../diagnostics/plain-input.ts'
import { toProblemError } from '../diagnostics/problem-error.ts'
import { describeShapeProblems } from '../diagnostics/shape-problems.ts'
import { describedParse } from '../diagnostics/zod-issues.ts'
import { toolDependents } from '../rules/tool-dependents.ts'
import type { Need, Operation, OperationContext, PartialContext, Services } from './operation.ts'

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
    if (!parsed.success) throw await invalidInputError(operation, { input, issues: parsed.issues }, served)
    const output = await parseInTurns(operation.output, await operation.handle(parsed.data, served))
    record('ok')
    return output
  } catch (thrown) {
    const error = toLoggedError(context.logger, thrown)
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

/** A list up to this length is parsed at once. */
const shortList = 20

/** A list of a value whose items are parsed one by one. */
interface LongList {
  readonly path: readonly string[]
  readonly items: readonly unknown[]
  readonly item: z.ZodType
}

/** A value, or everything that is wrong with it. */
type Parsed<Value> =
  | { readonly success: true; readonly data: Value }
  | { readonly success: false; readonly issues: readonly z.core.$ZodIssue[] }

/** Parses an output, the items of a long list one by one, so that other requests get their turns. */
async function parseInTurns<Output extends z.ZodType>(schema: Output, value: unknown): Promise<z.output<Output>> {
  const parsed = await safeParseInTurns(schema, value)
  if (!parsed.success) throw new z.ZodError([...parsed.issues])
  return parsed.data
}

/** The same with all issues of an input. */
async function safeParseInTurns<Type extends z.ZodType>(schema: Type, value: unknown): Promise<Parsed<z.output<Type>>> {
  const lists = longListsOf(schema, value)
  const whole = schema.safeParse(
    lists.reduce((rest, { path }) => withList(rest, path, []), value),
    describedParse,
  )
  const issues = whole.success ? [] : [...whole.error.issues]
  let data: unknown = whole.data
  const turn = yieldTurns()
  for (const { path, items, item } of lists) {
    const parsed: unknown[] = []
    for (const [index, each] of items.entries()) {
      const result = item.safeParse(each, describedParse)
      if (result.success) parsed.push(result.data)
      else issues.push(...result.error.issues.map((issue) => ({ ...issue, path: [...path, index, ...issue.path] })))
      await turn()
    }
    if (whole.success) data = withList(data, path, parsed)
  }
  return issues.length === 0 ? { success: true, data: data as z.output<Type> } : { success: false, issues }
}

/** The long lists of an object, and of the objects in its fields. */
function longListsOf(schema: z.ZodType, value: unknown, path: readonly string[] = []): readonly LongList[] {
  const object = present(schema)
  if (!(object instanceof z.ZodObject) || typeof value !== 'object' || value === null || hasChecks(object)) return []
  const fields = Object.entries(object.shape) as [string, z.ZodType][]
  return fields.flatMap(([name, own]) => {
    if (!Object.hasOwn(value, name)) return []
    const field = (value as Readonly<Record<string, unknown>>)[name]
    const at = [...path, name]
    const list = present(own)
    if (!(list instanceof z.ZodArray)) return path.length === 0 ? longListsOf(own, field, at) : []
    if (!Array.isArray(field) || field.length <= shortList || !isWithin(list, field.length)) return []
    return [{ path: at, items: field, item: list.element as z.ZodType }]
  })
}

/** The schema of a value that is there. */
function present(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? present(schema.def.innerType as z.ZodType)
    : schema
}

const hasChecks = (schema: z.ZodType): boolean => (schema.def.checks ?? []).length > 0

/** Whether the only check on the whole list is a maximum length, and holds; another one would need all items. */
function isWithin(list: z.ZodArray, length: number): boolean {
  return (list.def.checks ?? []).every((check) => {
    const { check: kind, maximum = -1 } = check._zod.def as { check: string; maximum?: number }
    return kind === 'max_length' && length <= maximum
  })
}

function withList(value: unknown, [name = '', ...rest]: readonly string[], list: readonly unknown[]): object {
  const inner = rest.length === 0 ? list : withList((value as Record<string, unknown>)[name], rest, list)
  return { ...(value as object), [name]: inner }
}

interface Refused {
  readonly input: unknown
  readonly issues: readonly z.core.$ZodIssue[]
}

/** The error for an input of the wrong shape, with all problems of shape and content. */
export async function invalidInputError<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  { input, issues }: Refused,
  context?: OperationContext<Need>,
): Promise<TooldexError> {
  const shape: Problem[] = []
  const turn = yieldTurns(context?.signal)
  for (const issue of issues) {
    const found = describeShapeProblems(operation.input, issue, { internalKeys: context?.elsewhere })
    shape.push(...found.map((finding) => toProblem(finding)))
    await turn()
  }
  const isIndependent = independentOfInvalid(
    shape.map(({ pointer = '' }) => pointer),
    toolDependents,
  )
  await turn()
  const others = await validateRemainder(operation, { input, issues }, context)
  const problems = [...shape, ...others.filter(({ pointer }) => isIndependent(pointer))]
  const { subject } = operation
  const code = 'INPUT_INVALID'
  // Agents read only the message, so it contains the problems of the few arguments of a call.
  if (subject === undefined) return toProblemError({ code, what: 'The input', problems, maxInMessage: 10 })
  return toProblemError({ code, what: `The ${subject}`, problems, hint: 'Fix the listed problems and send it again.' })
}

async function validateRemainder<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  { input, issues }: Refused,
  context: OperationContext<Need> | undefined,
): Promise<readonly Problem[]> {
  if (operation.validateRemainder === undefined || context === undefined) return []
  const rest = dropInvalidParts<z.output<Input>>(operation.input as z.ZodType<z.output<Input>>, input, issues)
  return rest === undefined ? [] : operation.validateRemainder(rest, context)
}
