import { isObject, type JsonObject } from '../base/json-values.ts'
import { listedValues, possibleTypes } from './value-types.ts'

/** Limits of a proof, because every pair is compared. */
const limits = { members: 100, steps: 50_000 }

/** Whether provably no value matches two of the normalized schemas; `open` resolves the refs of their properties. */
export function areDisjoint(members: readonly unknown[], open: (part: unknown) => unknown): boolean {
  if (members.length > limits.members || !members.every(isObject)) return false
  const proof = new Proof(open)
  return members.every((one, index) => members.slice(index + 1).every((other) => proof.excludes(one, other)))
}

interface Facts {
  readonly types: readonly string[] | undefined
  /** The listed values, if all are scalars. */
  readonly values: ReadonlySet<unknown> | undefined
}

class Proof {
  readonly #open: (part: unknown) => unknown
  readonly #facts = new Map<JsonObject, Facts>()
  #steps = 0

  constructor(open: (part: unknown) => unknown) {
    this.#open = open
  }

  excludes(one: JsonObject, other: JsonObject): boolean {
    const [facts, others] = [this.#factsOf(one), this.#factsOf(other)]
    return areApart(facts.types, others.types) || this.#haveDisjointValues(facts, others) || this.#differ(one, other)
  }

  #factsOf(schema: JsonObject): Facts {
    const known = this.#facts.get(schema)
    if (known !== undefined) return known
    const listed = listedValues(schema)
    const values = listed?.some((value) => typeof value === 'object' && value !== null) ? undefined : listed
    const types = possibleTypes(schema)?.map((type) => (type === 'integer' ? 'number' : type))
    const facts = { types, values: values && new Set(values) }
    this.#facts.set(schema, facts)
    return facts
  }

  #haveDisjointValues({ values }: Facts, { values: others }: Facts): boolean {
    if (values === undefined || others === undefined) return false
    this.#steps += values.size
    return this.#steps <= limits.steps && ![...values].some((value) => others.has(value))
  }

  /** Whether a property that both require has disjoint values. */
  #differ(one: JsonObject, other: JsonObject): boolean {
    const areObjects = [one, other].every((schema) => this.#factsOf(schema).types?.every((type) => type === 'object'))
    if (!areObjects || !Array.isArray(one.required) || !Array.isArray(other.required)) return false
    this.#steps += one.required.length + other.required.length
    if (this.#steps > limits.steps) return false
    const required = new Set(other.required)
    return one.required.some((name) => {
      const [left, right] = [this.#propertyOf(one, name), this.#propertyOf(other, name)]
      if (!required.has(name) || !isObject(left) || !isObject(right)) return false
      return this.#haveDisjointValues(this.#factsOf(left), this.#factsOf(right))
    })
  }

  #propertyOf({ properties }: JsonObject, name: unknown): unknown {
    if (!isObject(properties) || !Object.hasOwn(properties, String(name))) return undefined
    return this.#open(properties[String(name)])
  }
}

const areApart = (types: readonly string[] | undefined, others: readonly string[] | undefined): boolean =>
  types !== undefined && others !== undefined && !types.some((type) => others.includes(type))
