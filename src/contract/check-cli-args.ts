import type { Finding } from '../base/typed-yaml.ts'
import { refusedKeys } from '../base/yaml-document.ts'
import { type ArgDef, isList, itemType, type Scalar } from './cli-config.ts'

/** What makes no sense in a list of arguments. */
export function checkArgs(
  args: readonly ArgDef[],
  path: readonly PropertyKey[],
  { global = false }: { global?: boolean } = {},
): readonly Finding[] {
  const findings = args.flatMap((arg, index) => checkArg(arg, [...path, index], global))
  return [...findings, ...checkTogether(args, path)]
}

function checkArg(arg: ArgDef, path: readonly PropertyKey[], global: boolean): Finding[] {
  const found: Finding[] = []
  const say = (key: string, message: string, hint?: string) =>
    found.push({
      path: [...path, key],
      message: `argument '${arg.name}': ${message}`,
      ...(hint === undefined ? {} : { hint }),
    })

  if (refusedKeys.has(arg.name)) say('name', 'may not have this name', 'choose another one')
  const places = [arg.positional !== false && 'positional', arg.cwd && 'cwd', arg.stdin && 'stdin'].filter(Boolean)
  if (places.length > 1) say(String(places[1]), `is both ${places.join(' and ')}`, 'keep one of them')
  if (arg.positional !== false && arg.flag != null) say('flag', 'is positional and has a flag', 'keep one of them')
  if (arg.required && arg.default != null) say('default', 'is required and has a default', 'drop one of them')
  if (arg.root !== undefined && itemType(arg) !== 'path')
    say('root', "has a root but is not of type 'path'", 'type: path')
  if (arg.items !== undefined && arg.type !== 'array')
    say('items', "has items but is not of type 'array'", 'type: array')
  if ((arg.cwd || arg.stdin) && isList(arg)) say('repeat', 'is a list, but there is only one folder and one stdin')
  if (isList(arg) && itemType(arg) === 'boolean') say('type', 'is a list of booleans, which no command line can show')
  if (arg.enum != null) checkEnum(arg, say)
  if (arg.default != null && !global) checkDefault(arg, say)
  return found
}

type Say = (key: string, message: string, hint?: string) => void

function checkEnum(arg: ArgDef, say: Say): void {
  const values = arg.enum ?? []
  const wrong = values.find((value) => !fits(value, arg))
  if (wrong !== undefined) say('enum', `enum value ${JSON.stringify(wrong)} is not of type ${itemType(arg)}`)
  if (new Set(values).size < values.length) say('enum', 'lists a value twice')
}

function checkDefault(arg: ArgDef, say: Say): void {
  const value = arg.default as Scalar | Scalar[]
  if (Array.isArray(value) && !isList(arg)) {
    say('default', 'has a list as default', 'add repeat: true')
    return
  }
  for (const item of Array.isArray(value) ? value : [value]) {
    if (!fits(item, arg)) say('default', `default ${JSON.stringify(item)} is not of type ${itemType(arg)}`)
    else if (arg.enum != null && arg.enum.length > 0 && !arg.enum.some((allowed) => String(allowed) === String(item))) {
      say('default', `default ${JSON.stringify(item)} is not one of: ${arg.enum.join(', ')}`)
    }
  }
}

/** Whether a value is of the argument's type; a text that reads as one counts, as it does in a call. */
function fits(value: Scalar, arg: ArgDef): boolean {
  const type = itemType(arg)
  if (type === 'string' || type === 'path') return true
  if (type === 'boolean') return typeof value === 'boolean' || /^(true|false)$/i.test(String(value))
  const number = typeof value === 'boolean' ? Number.NaN : Number(value)
  return type === 'integer' ? Number.isInteger(number) : Number.isFinite(number)
}

function checkTogether(args: readonly ArgDef[], path: readonly PropertyKey[]): readonly Finding[] {
  const found: Finding[] = []
  const seen = new Map<string, number>()
  const once = (key: string, index: number, field: string, message: string) => {
    if (seen.has(key)) found.push({ path: [...path, index, field], message })
    else seen.set(key, index)
  }
  for (const [index, arg] of args.entries()) {
    once(`name ${arg.name}`, index, 'name', `two arguments are called '${arg.name}'`)
    if (arg.cwd) once('cwd', index, 'cwd', `argument '${arg.name}': another argument is the folder already`)
    if (arg.stdin) once('stdin', index, 'stdin', `argument '${arg.name}': another argument is stdin already`)
    if (typeof arg.positional === 'number') {
      const message = `argument '${arg.name}': another argument has the position ${arg.positional} already`
      once(`position ${arg.positional}`, index, 'positional', message)
    }
  }
  return found
}
