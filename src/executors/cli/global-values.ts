import { type Environment, expandVariables } from '../../base/expand-variables.ts'
import { type ArgDef, isList, type Scalar } from '../../contract/cli-config.ts'
import type { ArgValue, ArgValues } from '../../contract/executor.ts'

/** The values of a config's global arguments: their defaults with variables expanded; an argument with an unset variable is omitted. */
export function globalValues(globalArgs: readonly ArgDef[], env: Environment): ArgValues {
  const values = new Map<string, ArgValue>()
  for (const arg of globalArgs) {
    if (arg.default == null) continue
    const expanded = [arg.default].flat().map((value) => (typeof value === 'string' ? expand(value, env) : value))
    const present = expanded.filter((value): value is Scalar => value !== undefined && value !== '')
    const [first] = present
    if (first !== undefined) values.set(arg.name, isList(arg) ? present : first)
  }
  return values
}

// Compatible with CLImax: omitted if no variable could be expanded, otherwise unset variables stay as written.
function expand(value: string, env: Environment): string | undefined {
  const { text, missing } = expandVariables(value, env)
  return missing.length > 0 && text === value ? undefined : text
}
