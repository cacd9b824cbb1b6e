import { isObject, listOf, omit, textsOf } from '../base/json-values.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { isOfType } from '../json-schema/value-types.ts'
import { cutText } from '../rules/cut-text.ts'
import type { CompileState } from './compile-state.ts'
import { keywordsOfType } from './dialects.ts'

const formats: Record<string, readonly string[]> = {
  string: ['date-time', 'enum'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}
const maxValuesLength = 300

/** A schema reduced to one of its types, with the keywords that apply to that type. */
export function narrowToType(state: CompileState, node: JsonSchema, type: string): JsonSchema {
  const own = keywordsOfType[type] ?? []
  const foreign = Object.values(keywordsOfType)
    .flat()
    .filter((key) => !own.includes(key))
  const steps = [withValues, withFormat, ...(stepsOfType[type] ?? [])]
  const narrowed = state.parts.derive({ ...omit(node, ...foreign), type }, node)
  return steps.reduce((whole, step) => state.parts.derive(step(state, whole, type), node), narrowed)
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

/** Only strings can be in `enum`; other values are listed in the description. */
function withValues(state: CompileState, node: JsonSchema, type: string): JsonSchema {
  if (!('enum' in node)) return node
  const values = listOf(node.enum).filter((value) => isOfType(value, type))
  const asTexts = values.filter((value) => typeof value === 'string' && value !== '')
  if (values.length > 0 && asTexts.length === values.length) return { ...node, enum: values }
  state.lose(
    node,
    'enum',
    `${state.dialect.label} allows only non-empty strings in enum; the description lists the values.`,
  )
  const named = `One of: ${cutText(values.map((value) => JSON.stringify(value)).join(', '), maxValuesLength)}`
  const description = typeof node.description === 'string' ? `${node.description}\n${named}` : named
  return { ...omit(node, 'enum'), ...(values.length > 0 ? { description } : {}) }
}

/** Whether a format is supported for a type. */
export const takesFormat = (type: string, format: unknown): boolean => formats[type]?.includes(String(format)) === true

/** An exclusive bound becomes the next integer for integers, and an inclusive bound, which is slightly too wide, for others. */
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
      state.lose(node, key, `${state.dialect.label} does not support this keyword; the bound itself is accepted.`)
    const bound = whole ? nearest : value
    const inclusive = node[plain]
    const tightest =
      typeof inclusive !== 'number' ? bound : step > 0 ? Math.max(inclusive, bound) : Math.min(inclusive, bound)
    bounded = { ...omit(bounded, key), [plain]: tightest }
  }
  return bounded
}

/** An array has one schema for all items. */
function withItems(state: CompileState, node: JsonSchema): JsonSchema {
  if (!Array.isArray(node.prefixItems)) return 'items' in node ? node : { ...node, items: true }
  state.lose(node, 'prefixItems', `${state.dialect.label} supports one schema for all items: their positions are lost.`)
  if (node.items !== undefined && node.items !== true) {
    state.lose(node, 'items', `${state.dialect.label} cannot constrain the items after the first ones.`)
  }
  const rest = node.items === undefined || node.items === false ? [] : [node.items]
  const items = state.parts.derive({ anyOf: [...node.prefixItems, ...rest] }, node)
  return { ...omit(node, 'prefixItems'), items }
}

/** Required names must be properties. */
function withRequired(state: CompileState, node: JsonSchema): JsonSchema {
  if (!('required' in node)) return node
  const properties = isObject(node.properties) ? node.properties : {}
  const required = textsOf(node.required).filter((name) => Object.hasOwn(properties, name))
  const gone = listOf(node.required).filter((name) => !required.includes(name as string))
  if (gone.length > 0)
    state.loseNames(node, 'required', gone, `${state.dialect.label} can require only declared properties.`)
  return required.length > 0 ? { ...node, required } : omit(node, 'required')
}
