import type { JsonSchema } from '../contract/input-schema.ts'
import type { Loss } from '../contract/llm.ts'
import { type ProviderDialect, silentKeywords } from './dialects.ts'
import { isVacuous } from './keyword-kinds.ts'
import { SchemaDocument } from './schema-document.ts'

/** How far a schema is followed before the rest is left open. */
export const compileLimits = {
  /** Subschemas in the result. */
  schemas: 3000,
  /** Characters of listed values, texts and names in the result. */
  characters: 200_000,
  /** Subschemas inside each other. */
  depth: 40,
  /** How often a schema that contains itself is written out along one path. */
  repeats: 2,
  /** References followed and schemas merged. */
  steps: 1000,
} as const

/** What is known while one schema is compiled: the document, what was lost, and what is left to spend. */
export class CompileState {
  readonly document: SchemaDocument
  readonly dialect: ProviderDialect
  readonly #losses = new Map<string, Loss>()
  /** How often something was lost, the same place counted each time. */
  #times = 0
  #schemas = 0
  #characters = 0
  #steps = 0

  constructor(root: JsonSchema, dialect: ProviderDialect) {
    this.document = new SchemaDocument(root)
    this.dialect = dialect
  }

  get losses(): Loss[] {
    return [...this.#losses.values()]
  }

  /** Reports that a keyword of a part is gone; the same is reported once. */
  lose(part: object, lost: string, why: string): void {
    for (const { pointer, name } of this.document.placesOf(part, lost)) this.loseAt(pointer, name, why)
  }

  /** Reports that some of the names in a list of a part are gone, wherever they were listed. */
  loseNames(part: object, lost: string, names: readonly unknown[], why: string): void {
    for (const { pointer, name } of this.document.placesOf(part, lost)) {
      const listed = this.document.at(pointer)
      if (!Array.isArray(listed) || names.some((each) => listed.includes(each))) this.loseAt(pointer, name, why)
    }
  }

  /** Reports every keyword of a part but some; those that say nothing are not missed. */
  loseAllBut(part: JsonSchema, kept: readonly string[], why: string): void {
    for (const key of Object.keys(part)) {
      if (!kept.includes(key) && !silentKeywords.has(key) && !isVacuous(key, part[key])) this.lose(part, key, why)
    }
  }

  get timesLost(): number {
    return this.#times
  }

  /** Reports a construct at a pointer. */
  loseAt(pointer: string, lost: string, why: string): void {
    this.#times += 1
    const key = JSON.stringify([pointer, lost])
    if (!this.#losses.has(key)) this.#losses.set(key, { pointer, lost, why })
  }

  /** Whether there is room for one more schema of this many characters. */
  spend(characters: number): boolean {
    this.#schemas += 1
    this.#characters += characters
    return this.#schemas <= compileLimits.schemas && this.#characters <= compileLimits.characters
  }

  /** Whether one more step of following and merging may be made. */
  step(): boolean {
    this.#steps += 1
    return this.#steps <= compileLimits.steps
  }
}

/** Where the conversion is: how deep, and inside which schemas that were referred to. */
export interface Path {
  readonly depth: number
  readonly entered: readonly object[]
}
