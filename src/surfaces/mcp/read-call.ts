import { parseExactly } from '../../base/exact-numbers.ts'

const nameKeys = ['name', 'tool_name', 'toolName', 'tool', 'id']
const argumentKeys = ['arguments', 'args', 'parameters', 'params', 'input']
/** What is said about a call beside its arguments, and how models write it. */
const ownKeys = {
  version: ['version'],
  idempotencyKey: ['idempotencyKey', 'idempotency_key'],
  dryRun: ['dryRun', 'dry_run'],
}

const knownKeys = new Set([...nameKeys, ...argumentKeys, ...Object.values(ownKeys).flat()])

/** The arguments of `call_tool` as models really write them: other names, arguments as JSON text, or not nested at all. */
export function readCall(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const name = pick(given, nameKeys)
  const inner = parse(pick(given, argumentKeys))
  const own = Object.fromEntries(
    Object.entries(ownKeys).flatMap(([key, spellings]) => {
      const value = pick(given, spellings)
      return value === undefined ? [] : [[key, value]]
    }),
  )
  if (name === undefined && isRecord(inner) && pick(inner, nameKeys) !== undefined)
    return { ...readCall(inner), ...own }
  const loose = Object.fromEntries(Object.entries(given).filter(([key]) => !knownKeys.has(key)))
  return { ...own, name, arguments: inner ?? loose }
}

/** The keys beside nested arguments that mean nothing; without nested arguments they are the tool's own. */
export const looseKeys = (given: Readonly<Record<string, unknown>>): readonly string[] =>
  pick(given, argumentKeys) === undefined ? [] : Object.keys(given).filter((key) => !knownKeys.has(key))

const pick = (record: Readonly<Record<string, unknown>>, keys: readonly string[]) =>
  keys.map((key) => record[key]).find((value) => value !== undefined && value !== null)

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parse(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return parseExactly(value)
  } catch {
    return value
  }
}
