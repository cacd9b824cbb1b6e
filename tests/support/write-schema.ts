import fc from 'fast-check'

type Json = Record<string, unknown>

/** The meaning of a schema, to be written in several ways; keys of `words` mean the same in both drafts. */
export interface Meaning {
  readonly words: Json
  readonly description?: string | undefined
  readonly properties?: Readonly<Record<string, Meaning>> | undefined
  /** The schemas of the first items, and of all others. */
  readonly tuple?: readonly Meaning[] | undefined
  readonly rest?: Meaning | undefined
  readonly all?: readonly Meaning[] | undefined
  readonly any?: readonly Meaning[] | undefined
  /** The properties and conditions that a property brings. */
  readonly needs?: Readonly<Record<string, readonly string[] | Meaning>> | undefined
  /** The whole schema again. */
  readonly isRoot?: boolean | undefined
}

const names = ['a', 'b', 'c/d', 'e~f', 'g h%']
const Name = fc.constantFrom(...names)
const optional = <T>(of: fc.Arbitrary<T>, freq = 2) => fc.option(of, { nil: undefined, freq })
const Value = fc.constantFrom<unknown>('x', '', 1, 2.5, true, null)
const Bound = optional(fc.integer({ min: 0, max: 4 }), 1)

const Words = fc
  .record({
    type: optional(
      fc.constantFrom<unknown>('string', 'integer', 'number', 'boolean', ['string', 'null'], 'array', 'object'),
      4,
    ),
    enum: optional(fc.uniqueArray(Value, { minLength: 1, maxLength: 3 }), 1),
    default: optional(Value, 1),
    minimum: Bound,
    maximum: Bound,
    minLength: Bound,
    required: optional(fc.uniqueArray(Name, { minLength: 1, maxLength: 2 }), 1),
    additionalProperties: optional(fc.constant(false), 1),
  })
  .map(withoutUndefined)

function withoutUndefined(value: object): Json {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined))
}

const { meaning } = fc.letrec<{ meaning: Meaning; leaf: Meaning }>((tie) => {
  const list = fc.array(tie('meaning'), { minLength: 1, maxLength: 2 })
  return {
    leaf: fc.record({ words: Words, description: optional(fc.constantFrom('One.', 'Two.')) }),
    meaning: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('leaf'),
      fc.record({
        words: Words,
        description: optional(fc.constantFrom('One.', 'Two.')),
        properties: optional(fc.dictionary(Name, tie('meaning'), { maxKeys: 3, noNullPrototype: true })),
        tuple: optional(list, 1),
        rest: optional(tie('meaning'), 1),
        all: optional(list, 1),
        any: optional(list, 1),
        needs: optional(
          fc.dictionary(Name, fc.oneof(fc.uniqueArray(Name, { maxLength: 2 }), tie('meaning')), {
            maxKeys: 2,
            noNullPrototype: true,
          }),
          1,
        ),
      }),
      fc.constant({ words: {}, isRoot: true }),
    ),
  }
})

/** Input schemas of tools. */
export const Meanings: fc.Arbitrary<Meaning> = fc
  .record({
    words: Words,
    properties: fc.dictionary(Name, meaning, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
    all: optional(fc.array(meaning, { minLength: 1, maxLength: 2 }), 1),
  })
  // A member of the root that is the root never ends.
  .map(({ words, all, ...rest }) => ({
    ...rest,
    words: { ...words, type: 'object' },
    all: all?.filter((part) => !reachesRoot(part)),
  }))
  .map((whole) => (whole.all?.length === 0 ? { ...whole, all: undefined } : whole))

/** Whether a schema applies the whole schema to the same value. */
function reachesRoot({ isRoot, all = [], any = [], needs = {} }: Meaning): boolean {
  const needed = Object.values(needs).filter((part): part is Meaning => !Array.isArray(part))
  return isRoot === true || [...all, ...any, ...needed].some(reachesRoot)
}

/** Whether a meaning contains itself. */
export const isRecursive = (whole: Meaning): boolean => JSON.stringify(whole).includes('"isRoot":true')

/** The ways to write a part: in its place, or behind a reference. */
const ways = ['inline', 'pointer', 'encoded', 'anchor', 'described', 'resource'] as const

/** How a schema is written: the draft, the folder of definitions, and the ways of its parts in turn. */
export interface Style {
  readonly draft: 'draft-07' | '2020-12'
  readonly folder: '$defs' | 'definitions'
  /** Whether the whole schema is a definition itself. */
  readonly isDefinition: boolean
  readonly ways: readonly (typeof ways)[number][]
}

/** Everything in its place, in 2020-12. */
export const inlined: Style = { draft: '2020-12', folder: '$defs', isDefinition: false, ways: ['inline'] }

/** Any style. */
export const Styles: fc.Arbitrary<Style> = fc
  .record({
    draft: fc.constantFrom('2020-12' as const, 'draft-07' as const),
    folder: fc.constantFrom('$defs' as const, 'definitions' as const),
    isDefinition: fc.boolean(),
    ways: fc.array(fc.constantFrom(...ways), { minLength: 1, maxLength: 12 }),
  })
  .map((style) => (style.draft === 'draft-07' ? { ...style, folder: 'definitions' as const } : style))

/** Writes a meaning in a style. */
export function writeSchema(whole: Meaning, style: Style): Json {
  return new SchemaWriter(style).whole(whole)
}

const uris = {
  'draft-07': 'http://json-schema.org/draft-07/schema#',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
}

class SchemaWriter {
  readonly #style: Style
  #parts = 0
  #defs: Json = {}

  constructor(style: Style) {
    this.#style = style
  }

  whole(meaning: Meaning): Json {
    const { draft, folder, isDefinition } = this.#style
    const root = { ...this.#anchor('whole'), ...this.#keywords(meaning) }
    if (!isDefinition) return { $schema: uris[draft], ...root, ...this.#folder(this.#defs) }
    return { $schema: uris[draft], $ref: `#/${folder}/whole`, ...this.#folder({ ...this.#defs, whole: root }) }
  }

  #folder = (defs: Json): Json => (Object.keys(defs).length === 0 ? {} : { [this.#style.folder]: defs })

  #part(meaning: Meaning): Json {
    const way = this.#style.ways[this.#parts++ % this.#style.ways.length] ?? 'inline'
    if (meaning.isRoot === true) return { $ref: this.#refToRoot(way) }
    // Inside of a resource, nothing can refer to the root.
    if (way === 'inline' || (way === 'resource' && isRecursive(meaning))) return this.#keywords(meaning)
    if (way === 'resource') return this.#resource(meaning)
    const { description, ...rest } = meaning
    const isSplit = way === 'described' && description !== undefined
    const name = `${way} %${this.#parts}/~`
    const anchor = `part${this.#parts}`
    const target = this.#keywords(isSplit ? rest : meaning)
    this.#defs[name] = way === 'anchor' ? { ...target, ...this.#anchor(anchor) } : target
    const pointer = `#/${this.#style.folder}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const ref = way === 'anchor' ? `#${anchor}` : way === 'encoded' ? encode(pointer) : encodeURI(pointer)
    return { $ref: ref, ...(isSplit ? { description } : {}) }
  }

  #refToRoot(way: (typeof ways)[number]): string {
    if (way === 'anchor') return '#whole'
    return way === 'inline' || !this.#style.isDefinition ? '#' : `#/${this.#style.folder}/whole`
  }

  #anchor = (name: string): Json => (this.#style.draft === 'draft-07' ? { $id: `#${name}` } : { $anchor: name })

  /** A part with its own `$id`: references in it refer to its own definitions. */
  #resource(meaning: Meaning): Json {
    const outer = this.#defs
    this.#defs = {}
    const written = this.#keywords(meaning)
    const defs = this.#folder(this.#defs)
    this.#defs = outer
    return { $id: `https://example.com/part${this.#parts}`, ...written, ...defs }
  }

  #keywords({ words, description, properties, tuple, rest, all, any, needs }: Meaning): Json {
    const write = (part: Meaning) => this.#part(part)
    const isOlder = this.#style.draft === 'draft-07'
    const [first, others] = [tuple?.map(write), rest && write(rest)]
    const later = isOlder && first !== undefined ? { items: first, additionalItems: others } : undefined
    return withoutUndefined({
      ...words,
      description,
      properties: properties && mapValues(properties, write),
      ...(later ?? { prefixItems: first, items: others }),
      allOf: all?.map(write),
      anyOf: any?.map(write),
      ...(needs === undefined ? {} : this.#needs(needs, write)),
    })
  }

  #needs(needs: NonNullable<Meaning['needs']>, write: (part: Meaning) => Json): Json {
    const entries = Object.entries(needs).map(
      ([name, part]) => [name, isNames(part) ? part : write(part as Meaning)] as const,
    )
    if (this.#style.draft === 'draft-07') return { dependencies: Object.fromEntries(entries) }
    return {
      dependentRequired: Object.fromEntries(entries.filter(([, part]) => Array.isArray(part))),
      dependentSchemas: Object.fromEntries(entries.filter(([, part]) => !Array.isArray(part))),
    }
  }
}

const isNames = (part: readonly string[] | Meaning): part is readonly string[] => Array.isArray(part)
const mapValues = (parts: Readonly<Record<string, Meaning>>, write: (part: Meaning) => Json): Json =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, write(part)]))
/** Every character of a pointer that is not a slash as an octet. */
const encode = (pointer: string): string =>
  pointer.replaceAll(/[^#/]/g, (each) => `%${each.charCodeAt(0).toString(16).padStart(2, '0')}`)
