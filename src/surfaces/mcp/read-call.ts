import { parseExactNumbers } from '../../base/exact-numbers.ts'
import { isObject } from '../../base/json-values.ts'

const nameKeys = ['name', 'tool_name', 'toolName', 'tool', 'id']
const argumentKeys = ['arguments', 'args', 'parameters', 'params', 'input']
/** The options of a call besides its arguments, with the spellings that models use. */
const ownKeys = {
  version: ['version'],
  idempotencyKey: ['idempotencyKey', 'idempotency_key'],
  dryRun: ['dryRun', 'dry_run'],
}

const knownKeys = new Set([...nameKeys, ...argumentKeys, ...Object.values(ownKeys).flat()])

/** Reads the arguments of `call_tool` in the forms that models use: other names, arguments as a JSON string, or not nested. */
export function readCall(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const name = pick(input, nameKeys)
  const inner = parse(pick(input, argumentKeys))
  const own = Object.fromEntries(
    Object.entries(ownKeys).flatMap(([key, spellings]) => {
      const value = pick(input, spellings)
      return value === undefined ? [] : [[key, value]]
    }),
  )
  if (name === undefined && isObject(inner) && pick(inner, nameKeys) !== undefined)
    return { ...readCall(inner), ...own }
  const loose = Object.fromEntries(Object.entries(input).filter(([key]) => !knownKeys.has(key)))
  return { ...own, name, arguments: inner ?? loose }
}

/** The unknown keys beside nested arguments; without nested arguments they are arguments of the tool. */
export const looseKeys = (input: Readonly<Record<string, unknown>>): readonly string[] =>
  pick(input, argumentKeys) === undefined ? [] : Object.keys(input).filter((key) => !knownKeys.has(key))

const pick = (record: Readonly<Record<string, unknown>>, keys: readonly string[]) =>
  keys.map((key) => record[key]).find((value) => value !== undefined && value !== null)

function parse(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return parseExactNumbers(value)
  } catch {
    return value
  }
}
