import { isObject } from '../base/same-json.ts'
import { cutText } from '../contract/cut-text.ts'
import type { JsonSchema } from '../contract/input-schema.ts'
import type { CompileState } from './compile-state.ts'
import { listOf, omit, textsOf, typeOfValue } from './json-value.ts'
import { keywordsOfType } from './keyword-kinds.ts'

const formats: Record<string, readonly string[]> = {
  string: ['date-time', 'enum'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}
const longestValues = 300

/** A schema for the values of one of its types, with what can be said about that type. */
export function narrowToType(state: CompileState, node: JsonSchema, type: string): JsonSchema {
  const own = keywordsOfType[type] ?? []
  const foreign = Object.values(keywordsOfType)
    .flat()
    .filter((key) => !own.includes(key))
  const steps = [withValues, withFormat, ...(stepsOfType[type] ?? [])]
  const narrowed = state.document.derive({ ...omit(node, ...foreign), type }, node)
  return steps.reduce((whole, step) => state.document.derive(step(state, whole, type), node), narrowed)
}

type Step = (state: CompileState, node: JsonSchema, type: string) => JsonSchema

const withFormat: Step = (_, node, type) =>
  'format' in node && !takesFormat(type, node.format) ? omit(node, 'format') : node

const stepsOfType: Record<string, readonly Step[]> = {
  number: [withBounds],
  integer: [withBounds],
  array: [withItems],
  object: [withRequired],
}

/** Only texts can be listed; other values are named in the description. */
function withValues(state: CompileState, node: JsonSchema, type: string): JsonSchema {
  if (!('enum' in node)) return node
  const values = listOf(node.enum).filter((value) => fitsType(value, type))
  const asTexts = values.filter((value) => typeof value === 'string' && value !== '')
  if (values.length > 0 && asTexts.length === values.length) return { ...node, enum: values }
  state.lose(
    node,
    'enum',
    `${state.dialect.label} lists texts only, and no empty ones; the description names the values.`,
  )
  const named = `One of: ${cutText(values.map((value) => JSON.stringify(value)).join(', '), longestValues)}`
  const description = typeof node.description === 'string' ? `${node.description}\n${named}` : named
  return { ...omit(node, 'enum'), ...(values.length > 0 ? { description } : {}) }
}

/** Whether a value is of a type. */
export const fitsType = (value: unknown, type: string): boolean =>
  typeOfValue(value) === type || (type === 'number' && typeof value === 'number')

/** Whether a format can be said of a type. */
export const takesFormat = (type: string, format: unknown): boolean => formats[type]?.includes(String(format)) === true

/** A bound that is not itself allowed is the next whole number for integers, and a little too wide for others. */
function withBounds(state: CompileState, node: JsonSchema, type: string): JsonSchema {
  let bounded = node
  for (const [key, plain, step] of [
    ['exclusiveMinimum', 'minimum', 1],
    ['exclusiveMaximum', 'maximum', -1],
  ] as const) {
    const value = node[key]
    if (typeof value !== 'number') continue
    const whole = type === 'integer'
    const nearest = step > 0 ? Math.floor(value) + 1 : Math.ceil(value) - 1
    if (!whole)
      state.lose(node, key, `${state.dialect.label} does not have this keyword; the bound itself is let through.`)
    const bound = whole ? nearest : value
    const given = node[plain]
    const tightest = typeof given !== 'number' ? bound : step > 0 ? Math.max(given, bound) : Math.min(given, bound)
    bounded = { ...omit(bounded, key), [plain]: tightest }
  }
  return bounded
}

/** A list has one schema for all it holds. */
function withItems(state: CompileState, node: JsonSchema): JsonSchema {
  if (!Array.isArray(node.prefixItems)) return 'items' in node ? node : { ...node, items: true }
  state.lose(node, 'prefixItems', `${state.dialect.label} has one schema for all items: their places are lost.`)
  if (node.items !== undefined && node.items !== true) {
    state.lose(
      node,
      'items',
      `${state.dialect.label} cannot say what comes after the first items, or that nothing does.`,
    )
  }
  const rest = node.items === undefined || node.items === false ? [] : [node.items]
  const items = state.document.derive({ anyOf: [...node.prefixItems, ...rest] }, node)
  return { ...omit(node, 'prefixItems'), items }
}

/** What is required must be one of the properties. */
function withRequired(state: CompileState, node: JsonSchema): JsonSchema {
  if (!('required' in node)) return node
  const properties = isObject(node.properties) ? node.properties : {}
  const required = textsOf(node.required).filter((name) => Object.hasOwn(properties, name))
  const gone = listOf(node.required).filter((name) => !required.includes(name as string))
  if (gone.length > 0)
    state.loseNames(node, 'required', gone, `${state.dialect.label} can require only what is among the properties.`)
  return required.length > 0 ? { ...node, required } : omit(node, 'required')
}
