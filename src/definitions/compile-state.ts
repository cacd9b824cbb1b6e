import type { JsonSchema } from '../contract/input-schema.ts'
import type { Loss } from '../contract/llm.ts'
import { SchemaDocument, valueAt } from '../json-schema/schema-document.ts'
import { type ProviderDialect, silentKeywords } from './dialects.ts'
import { isVacuous } from './keyword-kinds.ts'
import { PartLocations } from './part-locations.ts'

/** Limits of a conversion; the parts beyond them accept any value. */
export const compileLimits = {
  /** Subschemas in the result. */
  schemas: 3000,
  /** Characters of enum values, strings and names in the result. */
  characters: 200_000,
  /** Levels of nested subschemas. */
  depth: 40,
  /** Expansions of a recursive schema along one path. */
  repeats: 2,
  /** References followed and schemas merged. */
  steps: 1000,
} as const

/** The state of one conversion: the document, the losses, and the remaining budget. */
export class CompileState {
  readonly document: SchemaDocument
  readonly parts: PartLocations
  readonly dialect: ProviderDialect
  readonly #losses = new Map<string, Loss>()
  /** The number of reported losses, repeated ones included. */
  #times = 0
  #schemas = 0
  #characters = 0
  #steps = 0

  constructor(root: JsonSchema, dialect: ProviderDialect) {
    this.document = new SchemaDocument(root)
    this.parts = new PartLocations(this.document)
    this.dialect = dialect
  }

  /** The whole schema, normalized. */
  get root(): JsonSchema {
    return this.document.root as JsonSchema
  }

  get losses(): Loss[] {
    return [...this.#losses.values()]
  }

  /** Reports the loss of a keyword of a part; repeated reports count once. */
  lose(part: object, lost: string, why: string): void {
    for (const { pointer, name } of this.parts.originsOf(part, lost)) this.loseAt(pointer, name, why)
  }

  /** Reports the loss of names from an array of a part, at each of its origins. */
  loseNames(part: object, lost: string, names: readonly unknown[], why: string): void {
    for (const { pointer, name } of this.parts.originsOf(part, lost)) {
      const listed = valueAt(this.document.stored, pointer)
      if (!Array.isArray(listed) || names.some((each) => listed.includes(each))) this.loseAt(pointer, name, why)
    }
  }

  /** Reports the loss of all keywords of a part except `kept` and those without effect. */
  loseAllBut(part: JsonSchema, kept: readonly string[], why: string): void {
    for (const key of Object.keys(part)) {
      if (!kept.includes(key) && !silentKeywords.has(key) && !isVacuous(key, part[key])) this.lose(part, key, why)
    }
  }

  get timesLost(): number {
    return this.#times
  }

  /** Reports a loss at a pointer. */
  loseAt(pointer: string, lost: string, why: string): void {
    this.#times += 1
    const key = JSON.stringify([pointer, lost])
    if (!this.#losses.has(key)) this.#losses.set(key, { pointer, lost, why })
  }

  /** Spends one schema of this many characters; false if the budget is exceeded. */
  trySpend(characters: number): boolean {
    this.#schemas += 1
    this.#characters += characters
    return this.#schemas <= compileLimits.schemas && this.#characters <= compileLimits.characters
  }

  /** Spends one step of resolving and merging; false if the budget is exceeded. */
  step(): boolean {
    this.#steps += 1
    return this.#steps <= compileLimits.steps
  }
}

/** The position of the conversion: its depth, and the targets of refs that contain it. */
export interface Path {
  readonly depth: number
  readonly entered: readonly object[]
}
