import type { Finding } from '../diagnostics/finding.ts'
import { refusedKeys } from '../documents/yaml-document.ts'
import { type ArgDef, isList, itemType, type Scalar } from './cli-config.ts'

/** Contradictions in a list of arguments; those that CLImax accepts are tolerated. */
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
  const reportAs =
    (tolerated: boolean): Report =>
    (key, message, hint) =>
      found.push({
        path: [...path, key],
        message: `argument '${arg.name}': ${message}`,
        tolerated,
        ...(hint === undefined ? {} : { hint }),
      })
  const refuse = reportAs(false)
  const tolerate = reportAs(true)

  if (refusedKeys.has(arg.name)) refuse('name', 'may not have this name', 'choose another one')
  const places = [arg.positional !== false && 'positional', arg.cwd && 'cwd', arg.stdin && 'stdin'].filter(Boolean)
  if (places.length > 1) tolerate(String(places[1]), `is both ${places.join(' and ')}`, 'keep one of them')
  if (arg.positional !== false && arg.flag != null)
    tolerate('flag', 'is positional and has a flag, which is not used', 'keep one of them')
  if (arg.required && arg.default != null)
    tolerate('default', 'is required and has a default, which is not used', 'drop one of them')
  if (arg.root !== undefined && itemType(arg) !== 'path')
    refuse('root', "has a root but is not of type 'path'", 'type: path')
  if (arg.items !== undefined && arg.type !== 'array')
    refuse('items', "has items but is not of type 'array'", 'type: array')
  if ((arg.cwd || arg.stdin) && isList(arg)) refuse('repeat', 'is a list, but there is only one folder and one stdin')
  if (isList(arg) && itemType(arg) === 'boolean')
    refuse('type', 'is a list of booleans, which no command line can show')
  if (arg.enum != null) checkEnum(arg, tolerate)
  if (arg.default != null && !global) checkDefault(arg, refuse, tolerate)
  return found
}

type Report = (key: string, message: string, hint?: string) => void

function checkEnum(arg: ArgDef, tolerate: Report): void {
  const values = arg.enum ?? []
  const wrong = values.find((value) => !fits(value, arg))
  if (wrong !== undefined) tolerate('enum', `enum value ${JSON.stringify(wrong)} is not of type ${itemType(arg)}`)
  if (new Set(values).size < values.length) tolerate('enum', 'lists a value twice')
}

/** A scalar that does not fit is passed on as it is written, as CLImax does; a list has no such form. */
function checkDefault(arg: ArgDef, refuse: Report, tolerate: Report): void {
  const value = arg.default as Scalar | Scalar[]
  if (Array.isArray(value) && !isList(arg)) {
    refuse('default', 'has a list as default', 'add repeat: true')
    return
  }
  const report = isList(arg) ? refuse : tolerate
  for (const item of Array.isArray(value) ? value : [value]) {
    if (!fits(item, arg)) report('default', `default ${JSON.stringify(item)} is not of type ${itemType(arg)}`)
    else if (arg.enum != null && arg.enum.length > 0 && !arg.enum.some((allowed) => String(allowed) === String(item))) {
      report('default', `default ${JSON.stringify(item)} is not one of: ${arg.enum.join(', ')}`)
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
    if (seen.has(key)) found.push({ path: [...path, index, field], message, tolerated: true })
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
