/** A JSON object. */
export type Json = Record<string, unknown>

/** A loss, as far as it says where. */
interface Told {
  readonly pointer: string
  readonly lost: string
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]
const step = (key: string | number) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** The value at a JSON pointer. */
export function valueAt(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (at, key) => (at !== null && typeof at === 'object' && Object.hasOwn(at, key) ? (at as Json)[key] : undefined),
      document,
    )
}

const single = new Set(
  `additionalItems additionalProperties contains not if then else propertyNames unevaluatedItems unevaluatedProperties
  contentSchema`.split(/\s+/),
)
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies'])

/** Every schema directly inside another, with its place. */
function inside(schema: Json): readonly [string, unknown][] {
  return Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (single.has(key) || (key === 'items' && !Array.isArray(value))) return [[step(key), value]]
    if ((lists.has(key) || key === 'items') && Array.isArray(value)) {
      return value.map((part, at) => [`${step(key)}${step(at)}`, part])
    }
    if (!maps.has(key) || !isObject(value)) return []
    const parts = Object.entries(value).filter(([, part]) => !Array.isArray(part))
    return parts.map(([name, part]) => [`${step(key)}${step(name)}`, part])
  })
}

/** The same schema, where each part of it has a description that no other has. */
export function label(schema: unknown, next = { number: 0 }): unknown {
  if (!isObject(schema)) return schema
  const labelled: Json = { ...structuredClone(schema), description: `part${next.number++};` }
  for (const key of ['$defs', 'definitions']) {
    if (!isObject(schema[key])) continue
    labelled[key] = Object.fromEntries(Object.entries(schema[key]).map(([name, part]) => [name, label(part, next)]))
  }
  for (const [place, part] of inside(schema)) {
    const parent = valueAt(labelled, place.slice(0, place.lastIndexOf('/'))) as Json
    const key = place
      .slice(place.lastIndexOf('/') + 1)
      .replaceAll('~1', '/')
      .replaceAll('~0', '~')
    Object.defineProperty(parent, key, {
      value: label(part, next),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return labelled
}

/** A part of the stored schema that can be come to: where it is, and through which references. */
interface Part {
  readonly schema: Json
  readonly pointer: string
  readonly route: readonly string[]
}

/** Every part that says something: those that can be come to from the whole. */
export function reachable(root: Json): readonly Part[] {
  const parts = new Map<object, Part>()
  const waiting: Part[] = [{ schema: root, pointer: '', route: [] }]
  const add = (schema: unknown, pointer: string, route: readonly string[]) => {
    if (isObject(schema) && !parts.has(schema)) waiting.push({ schema, pointer, route })
  }
  const hidesOthers = /draft-07/.test(String(root.$schema))
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { schema, pointer, route } = next
    if (parts.has(schema)) continue
    parts.set(schema, next)
    const { $ref } = schema
    if (typeof $ref === 'string' && $ref.startsWith('#'))
      add(valueAt(root, $ref.slice(1)), $ref.slice(1), [...route, `${pointer}/$ref`])
    if (hidesOthers && $ref !== undefined) continue
    for (const [place, part] of inside(schema)) add(part, `${pointer}${place}`, route)
  }
  return [...parts.values()]
}

/** The schemas of a compiled definition that stand for a labelled part. */
export function imagesOf(compiled: unknown, part: Json): readonly Json[] {
  const found: Json[] = []
  const waiting: unknown[] = [compiled]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const { description } = next as Json
    if (typeof description === 'string' && description.includes(String(part.description))) found.push(next as Json)
    waiting.push(...Object.values(next))
  }
  return found
}

const aboutType: Record<string, string> = Object.fromEntries(
  Object.entries({
    object: `properties required additionalProperties patternProperties propertyNames minProperties maxProperties
      dependentRequired dependentSchemas dependencies unevaluatedProperties`,
    array:
      'items prefixItems additionalItems minItems maxItems uniqueItems contains minContains maxContains unevaluatedItems',
    string: 'minLength maxLength pattern format contentEncoding contentMediaType contentSchema',
    number: 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
  }).flatMap(([type, words]) => words.split(/\s+/).map((word) => [word, type])),
)

const nothing = new Set('$schema $id $comment $anchor $dynamicAnchor $defs definitions description'.split(' '))
const openSayNothing = new Set(
  `items additionalItems additionalProperties propertyNames unevaluatedItems
  unevaluatedProperties contentSchema then else`.split(/\s+/),
)

const typesIn = (image: Json): unknown[] => [...listOf(image.type), ...(image.nullable === true ? ['null'] : [])]

const numbers: Record<string, (image: Json, value: number) => boolean> = {
  ...Object.fromEntries(
    ['minLength', 'minItems', 'minProperties', 'minContains'].map((key) => [
      key,
      (image: Json, value: number) => Number(image[key]) >= value,
    ]),
  ),
  ...Object.fromEntries(
    ['maxLength', 'maxItems', 'maxProperties', 'maxContains'].map((key) => [
      key,
      (image: Json, value: number) => Number(image[key]) <= value,
    ]),
  ),
  minimum: (image, value) => Number(image.minimum) >= value || Number(image.exclusiveMinimum) >= value,
  maximum: (image, value) => Number(image.maximum) <= value || Number(image.exclusiveMaximum) <= value,
  exclusiveMinimum: (image, value) => Number(image.exclusiveMinimum) >= value || Number(image.minimum) > value,
  exclusiveMaximum: (image, value) => Number(image.exclusiveMaximum) <= value || Number(image.maximum) < value,
}

/** Whether a schema of the definition still says what a keyword said, in its own words or others. */
function says(image: Json, key: string, value: unknown, root: Json): boolean {
  if (same(image[key], value)) return true
  if (key in numbers) return numbers[key]?.(image, Number(value)) === true
  // The alternatives of one schema are nullable all together.
  if (key === 'type') return 'type' in image && listOf(image.type).every((type) => allows(listOf(value), type))
  if (key === 'enum' || key === 'const') return saysValues(image, key === 'enum' ? listOf(value) : [value])
  if (key === 'required') return listOf(value).every((name) => listOf(image.required).includes(name))
  if (key === 'uniqueItems') return image.uniqueItems === true
  if (key === 'nullable') return value === true ? typesIn(image).includes('null') : image.nullable === value
  if (key === '$ref') return saysReference(image, value, root)
  if (key === 'items' && Array.isArray(value)) return listOf(image.prefixItems).length === value.length
  if (key === 'additionalItems') return 'items' in image && 'prefixItems' in image
  if (key === 'dependencies') return saysDependencies(image, value as Json)
  if (key === 'properties' || key === 'patternProperties' || key === 'dependentSchemas')
    return Object.keys(value as Json).every((name) => isObject(image[key]) && Object.hasOwn(image[key], name))
  if (single.has(key) || key === 'items') return key in image
  if (key === 'prefixItems') return listOf(image.prefixItems).length === listOf(value).length
  return same(image[key], value)
}

const allows = (types: readonly unknown[], type: unknown) =>
  types.includes(type) || (type === 'integer' && types.includes('number'))

function saysValues(image: Json, values: readonly unknown[]): boolean {
  const kept = 'const' in image ? [image.const] : Array.isArray(image.enum) ? image.enum : undefined
  return kept?.every((value) => values.some((each) => same(each, value))) === true
}

function saysReference(image: Json, reference: unknown, root: Json): boolean {
  const target = valueAt(root, String(reference).slice(1))
  if (target === true) return true
  if (!isObject(target)) return target === false && 'not' in image
  return '$ref' in image || String(image.description).includes(String(target.description))
}

const saysDependencies = (image: Json, value: Json) =>
  Object.keys(value).every((name) =>
    [image.dependentRequired, image.dependentSchemas].some((map) => isObject(map) && Object.hasOwn(map, name)),
  )

function alternatives(images: readonly Json[], key: string, part: unknown, root: Json): boolean {
  const others = key === 'oneOf' ? ['oneOf', 'anyOf'] : [key]
  if (images.some((image) => others.some((each) => each in image))) return true
  if (!isObject(part)) return part === true
  if (images.some((image) => String(image.description).includes(String(part.description)))) return true
  return isNull(part, root) && images.some((image) => typesIn(image).includes('null'))
}

function isNull(part: Json, root: Json): boolean {
  if (['type', 'enum', 'const'].some((word) => word in part && isNullWord(part, word))) return true
  const inner = [valueAt(root, String(part.$ref ?? '#/none').slice(1)), ...listOf(part.allOf)]
  return inner.some((each) => isObject(each) && each !== part && isNull(each, root))
}

/** Whether every schema that stands for a part still says what a keyword said. */
function isKept(images: readonly Json[], key: string, value: unknown, root: Json): boolean {
  if (isOpen({ [key]: value }, key)) return true
  if (key === 'allOf' || key === 'anyOf' || key === 'oneOf')
    return listOf(value).every((part) => part === true || alternatives(images, key, part, root))
  // A format is of one type or another.
  if (key === 'format') return images.some((image) => says(image, key, value, root))
  const type = aboutType[key]
  const meant = images.filter(
    (image) =>
      type === undefined || image.type === undefined || listOf(image.type).some((each) => allows([type], each)),
  )
  return (meant.length > 0 ? meant : images).every((image) => says(image, key, value, root))
}

/** What of a labelled schema the definition does not say, and the report does not name, as JSON pointers. */
export function findUntold(root: Json, compiled: unknown, losses: readonly Told[]): string[] {
  const told = new Set(losses.map(({ pointer }) => pointer))
  const covered = (pointer: string) => [...told].some((each) => pointer === each || pointer.startsWith(`${each}/`))
  return reachable(root).flatMap(({ schema, pointer, route }) => {
    const images = imagesOf(compiled, schema)
    const isGone = images.length === 0
    if (isGone && [pointer, ...route].some(covered)) return []
    const keys = Object.keys(schema).filter(
      (key) => !nothing.has(key) && !(isGone && (isNullWord(schema, key) || isOpen(schema, key))),
    )
    const missing = keys.filter((key) => isGone || !isKept(images, key, schema[key], root))
    return [...(isGone ? ['description'] : []), ...missing]
      .filter((key) => !told.has(`${pointer}${step(key)}`) && !toldByParts(schema, key, `${pointer}${step(key)}`, told))
      .map((key) => `${pointer}${step(key)}`)
  })
}

const isOpen = (schema: Json, key: string) =>
  key === 'allOf' ? listOf(schema[key]).every((part) => part === true) : openSayNothing.has(key) && schema[key] === true

/** A part that is null is said with one word of the others beside it. */
const isNullWord = (schema: Json, key: string) =>
  (key === 'type' && same(listOf(schema.type), ['null'])) ||
  ((key === 'enum' || key === 'const') && listOf(schema[key] ?? null).every((value) => value === null)) ||
  key === '$ref'

/** Whether each entry of a keyword that is gone is named by itself. */
function toldByParts(schema: Json, key: string, pointer: string, told: ReadonlySet<string>): boolean {
  const value = schema[key]
  if (typeof value !== 'object' || value === null) return false
  return Object.keys(value).some((name) =>
    ['', '/description'].some((end) => told.has(`${pointer}${step(name)}${end}`)),
  )
}

const holds = (found: unknown, part: unknown): boolean =>
  isObject(part) ? imagesOf(found, part).length > 0 : same(found, part)

const wordsOf = (schema: Json, key: string): unknown =>
  key === 'type' && schema.nullable === true ? typesIn(schema) : schema[key]

/** Losses that name a keyword which the definition has as it was. */
export function findStillThere(root: Json, compiled: unknown, losses: readonly Told[]): Told[] {
  const parts = new Map(reachable(root).map((part) => [part.pointer, part.schema]))
  return losses.filter(({ pointer, lost }) => {
    const schema = parts.get(pointer.slice(0, Math.max(0, pointer.lastIndexOf('/'))))
    if (schema === undefined || !Object.hasOwn(schema, lost) || pointer.slice(pointer.lastIndexOf('/')) !== step(lost))
      return false
    // What is gone in one place with all around it may be there in another.
    if (losses.some((other) => pointer.startsWith(`${other.pointer}/`) && other.pointer !== '')) return false
    // A reference of draft-07 hides what stands beside it; what it points to may say the same.
    if ('$ref' in schema && /draft-07/.test(String(root.$schema))) return false
    const images = imagesOf(compiled, schema)
    return (
      images.length > 0 &&
      images.every((image) =>
        single.has(lost) ? holds(image[lost], schema[lost]) : same(wordsOf(image, lost), wordsOf(schema, lost)),
      )
    )
  })
}
