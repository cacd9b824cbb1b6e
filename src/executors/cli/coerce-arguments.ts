import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { type Problem, toPointer } from '../../base/problem.ts'
import { didYouMean } from '../../base/suggest.ts'
import { suggestionSteps, WorkBudget } from '../../base/work-budget.ts'
import { type ArgDef, isList, itemType, type Scalar } from '../../contract/cli-config.ts'
import type { ArgValue, ArgValues } from '../../contract/executor.ts'

/**
 * Validates the arguments of a call and completes them: strings are converted to numbers and booleans where declared,
 * defaults are filled in. A null counts as absent. All problems are reported at once.
 */
export function coerceArguments(args: readonly ArgDef[], input: Readonly<Record<string, unknown>>): ArgValues {
  const problems: Problem[] = []
  const report = (name: string, message: string) =>
    problems.push({ severity: 'error', pointer: toPointer([name]), message })
  const values = new Map<string, ArgValue>()
  const put = (arg: ArgDef, value: unknown): void => {
    const coerced = isList(arg) ? coerceList(arg, value) : coerceOne(arg, value)
    if (typeof coerced === 'object' && 'problem' in coerced) report(arg.name, coerced.problem)
    else values.set(arg.name, coerced)
  }
  for (const arg of args) {
    if (arg.required && !isPresent(input, arg.name)) report(arg.name, `Missing required argument '${arg.name}'`)
  }
  const declared = new Map(args.map((arg) => [arg.name, arg]))
  const budget = new WorkBudget(suggestionSteps)
  for (const [name, value] of Object.entries(input)) {
    const arg = declared.get(name)
    const displayName = toOneLine(name).slice(0, 100)
    if (arg === undefined)
      report(name, `Unknown argument '${displayName}'.${didYouMean(name, declared.keys(), budget)}`)
    else if (value != null) put(arg, value)
  }
  for (const arg of args) {
    if (arg.default != null && !arg.required && !isPresent(input, arg.name))
      values.set(arg.name, defaultOf(arg, arg.default))
  }
  if (problems.length > 0) throw invalidArguments(problems)
  return values
}

function invalidArguments(problems: readonly Problem[]): TooldexError {
  const lines = problems.map((problem) => `  - ${problem.message}`).join('\n')
  return new TooldexError('INPUT_INVALID', `Argument validation failed:\n${lines}`, { problems })
}

type Coerced<T> = T | { readonly problem: string }

const isPresent = (input: Readonly<Record<string, unknown>>, name: string) =>
  Object.hasOwn(input, name) && input[name] != null

/** A default that does not have the type of its argument is used as written. */
function defaultOf(arg: ArgDef, value: ArgValue): ArgValue {
  const coerced = isList(arg) ? coerceList(arg, value) : coerceOne(arg, value)
  return typeof coerced === 'object' && 'problem' in coerced ? value : coerced
}

function coerceList(arg: ArgDef, value: unknown): Coerced<readonly Scalar[]> {
  const values: Scalar[] = []
  for (const item of Array.isArray(value) ? value : [value]) {
    const coerced = coerceOne(arg, item)
    if (typeof coerced === 'object') return coerced
    values.push(coerced)
  }
  return values
}

function coerceOne(arg: ArgDef, value: unknown): Coerced<Scalar> {
  const type = itemType(arg)
  const coerced = coercers[type](value)
  if (coerced === undefined) {
    return {
      problem: `Argument '${arg.name}': cannot convert ${formatValue(value)} to ${type === 'path' ? 'string' : type}`,
    }
  }
  const allowed = arg.enum ?? []
  if (allowed.length > 0 && !allowed.some((option) => String(option) === String(coerced))) {
    return { problem: `Argument '${arg.name}' must be one of: ${allowed.join(', ')}` }
  }
  return coerced
}

const coercers: Record<ReturnType<typeof itemType>, (value: unknown) => Scalar | undefined> = {
  string: toStringValue,
  path: toStringValue,
  boolean: toBoolean,
  integer: toInteger,
  number: toNumber,
}

function toStringValue(value: unknown): string | undefined {
  return typeof value === 'object' || value === undefined ? undefined : String(value)
}

function toBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isInteger(value) ? value !== 0 : undefined
  const text = typeof value === 'string' ? value.trim().toLowerCase() : ''
  return text === 'true' ? true : text === 'false' ? false : undefined
}

function toInteger(value: unknown): number | undefined {
  const number = toNumber(value)
  // A string with a point or an exponent is not an integer, even if its value is whole.
  if (typeof value === 'string' && /[.e]/i.test(value)) return undefined
  return Number.isSafeInteger(number) ? number : undefined
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'string' && !/^\s*[+-]?(\d+(_\d+)*(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) return undefined
  const number = typeof value === 'string' ? Number(value.replaceAll('_', '')) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

function formatValue(value: unknown): string {
  const text = typeof value === 'string' ? `'${value}'` : toJson(value)
  return toOneLine(text.length > 100 ? `${text.slice(0, 100)}...` : text)
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    // It nests deeper than the stack.
    return Array.isArray(value) ? 'an array' : 'an object'
  }
}
