import { type Environment, expandVariables } from '../../base/expand-variables.ts'
import type { ArgValue, ArgValues } from '../../contract/arguments.ts'
import { type ArgDef, isList, type Scalar } from '../../contract/cli-config.ts'

/** The values of a config's global arguments: their defaults, with variables filled in; an unset one leaves its argument out. */
export function globalValues(globalArgs: readonly ArgDef[], env: Environment): ArgValues {
  const values = new Map<string, ArgValue>()
  for (const arg of globalArgs) {
    if (arg.default == null) continue
    const expanded = [arg.default].flat().map((value) => (typeof value === 'string' ? expand(value, env) : value))
    const kept = expanded.filter((value): value is Scalar => value !== undefined && value !== '')
    const [first] = kept
    if (first !== undefined) values.set(arg.name, isList(arg) ? kept : first)
  }
  return values
}

// As CLImax: left out when nothing in it could be filled in, kept with the rest as written when something could.
function expand(value: string, env: Environment): string | undefined {
  const { text, missing } = expandVariables(value, env)
  return missing.length > 0 && text === value ? undefined : text
}
