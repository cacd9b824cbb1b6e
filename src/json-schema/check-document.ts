import { isObject, type JsonObject } from '../base/json-values.ts'
import { type Problem, toPointer } from '../base/problem.ts'
import { didYouMean } from '../base/suggest.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import { checkKeyword, type KeywordFault } from './check-keyword.ts'
import { inPlace, type KeywordKind, keywords } from './keywords.ts'
import { schemaLimits, stepCosts } from './limits.ts'
import type { RefUse, SchemaDocument } from './schema-document.ts'

/** The problems of a schema, with pointers below `pointer`. */
export function checkDocument(document: SchemaDocument, pointer: string, budget: WorkBudget): readonly Problem[] {
  const check = new DocumentCheck(document, pointer, budget)
  if (document.subschemas.length <= schemaLimits.subschemas) return check.all()
  check.report('', `the schema has more than ${schemaLimits.subschemas} subschemas`, 'simplify it')
  return check.problems
}

class DocumentCheck {
  readonly problems: Problem[] = []
  readonly #document: SchemaDocument
  readonly #keywords: ReadonlyMap<string, KeywordKind>
  readonly #pointer: string
  readonly #budget: WorkBudget
  readonly #seen = new Set<JsonObject>()
  /** Bounds the suggestions for unknown names. */
  readonly #suggestions = new WorkBudget(suggestionSteps)

  constructor(document: SchemaDocument, pointer: string, budget: WorkBudget) {
    this.#document = document
    this.#keywords = keywords[document.dialect]
    this.#pointer = pointer
    this.#budget = budget
  }

  all(): readonly Problem[] {
    this.#checkSchema(this.#document.stored, '', 'it')
    for (const use of this.#document.refs) this.#checkRef(use)
    // Targets of refs need not be at the position of a schema.
    for (const { stored, pointer } of this.#document.subschemas) this.#checkSchema(stored, pointer, '')
    this.#reportEndless()
    return this.problems
  }

  report(pointer: string, message: string, hint?: string): void {
    this.#add(pointer, { path: [], message, ...(hint === undefined ? {} : { hint }) })
  }

  #add(pointer: string, { path, ...fault }: KeywordFault): void {
    this.problems.push({ severity: 'error', pointer: this.#pointer + pointer + toPointer(path), ...fault })
  }

  #checkSchema(schema: unknown, pointer: string, name: string): void {
    if (typeof schema === 'boolean') return
    if (!isObject(schema)) {
      this.report(pointer, `${name} must be a schema: an object, true or false`)
      return
    }
    if (this.#seen.has(schema)) return
    this.#seen.add(schema)
    this.#budget.spend(stepCosts.subschema, this.#pointer + pointer)
    if (this.#document.dialect === '2020-12' && typeof schema.$id === 'string' && schema.$id.includes('#'))
      this.report(`${pointer}/$id`, '$id must not have a fragment in 2020-12', 'use $anchor instead')
    for (const [word, value] of Object.entries(schema)) this.#checkKeyword(word, value, pointer + toPointer([word]))
  }

  #checkKeyword(word: string, value: unknown, pointer: string): void {
    const kind = this.#keywords.get(word)
    if (kind === undefined) return
    if (kind === 'schema' || (kind === 'items' && !Array.isArray(value))) this.#checkSchema(value, pointer, word)
    else if (kind === 'items' && this.#document.dialect === '2020-12') {
      const hint = 'use prefixItems, or set "$schema": "http://json-schema.org/draft-07/schema#"'
      this.report(pointer, 'items must be one schema in 2020-12, not an array', hint)
    } else if (kind === 'schemas' || kind === 'items') this.#checkArray(word, value, pointer)
    else if (kind === 'schema map' || kind === 'pattern map' || kind === 'dependencies')
      this.#checkMap(kind, { word, value, pointer })
    else for (const fault of checkKeyword(kind, value, word, this.#budget)) this.#add(pointer, fault)
  }

  #checkArray(word: string, value: unknown, pointer: string): void {
    if (!Array.isArray(value)) {
      this.#add(pointer, { path: [], message: `${word} must be an array of schemas`, kind: 'not-array' })
      return
    }
    if (value.length === 0) this.report(pointer, `${word} must have at least one schema`)
    if (value.length > schemaLimits.branches) {
      const message = `${word} has ${value.length} schemas; at most ${schemaLimits.branches} are allowed`
      this.report(pointer, message, 'simplify it')
      return
    }
    for (const [index, schema] of value.entries()) this.#checkSchema(schema, `${pointer}/${index}`, String(index))
  }

  #checkMap(kind: KeywordKind, { word, value, pointer }: { word: string; value: unknown; pointer: string }): void {
    if (!isObject(value)) {
      this.#add(pointer, { path: [], message: `${word} must be an object`, kind: 'not-object' })
      return
    }
    for (const [name, item] of Object.entries(value)) {
      const at = pointer + toPointer([name])
      if (name === '__proto__') this.report(at, "the property name '__proto__' is not allowed", 'choose another name')
      if (kind === 'pattern map')
        for (const fault of checkKeyword('pattern', name, `the pattern '${name.slice(0, 100)}'`, this.#budget))
          this.#add(at, { ...fault, path: [] })
      if (kind !== 'dependencies' || !Array.isArray(item)) this.#checkSchema(item, at, name)
      else for (const fault of checkKeyword('names', item, name, this.#budget)) this.#add(at, fault)
    }
  }

  #checkRef({ ref, pointer, fault }: RefUse): void {
    if (fault === undefined) return
    const word = pointer.slice(pointer.lastIndexOf('/') + 1)
    const known = 'known' in fault ? fault.known() : []
    const near = () => ('name' in fault ? didYouMean(fault.name, known, this.#suggestions) : '')
    if (fault.reason === 'other document')
      this.report(
        pointer,
        `${word} must refer to the same document`,
        "copy the target to $defs, and write '#/$defs/...'",
      )
    else if (fault.reason === 'malformed') this.report(pointer, `the reference '${ref}' is malformed`)
    else if (fault.reason === 'not a schema')
      this.report(pointer, `'${ref}' must be a schema: an object, true or false`)
    else if (fault.reason === 'no anchor')
      this.report(pointer, `'${ref}' does not exist.${near()}`, `add "$anchor": "${fault.name}" to its target`)
    else {
      const hint = known.length === 0 ? 'add its target' : `existing keys: ${known.slice(0, 20).join(', ')}`
      this.report(pointer, `'${ref}' does not exist: there is no '${fault.name}'.${near()}`, hint)
    }
  }

  /** Reports cycles of refs that apply to the same value, which would never end. */
  #reportEndless(): void {
    const state = new Map<JsonObject, 'open' | 'done'>()
    const visit = (node: JsonObject): void => {
      state.set(node, 'open')
      for (const next of this.#sameValue(node)) {
        const mark = state.get(next)
        if (mark === undefined) visit(next)
        else if (mark === 'open') {
          const pointer = this.#document.find(next)?.pointer ?? ''
          this.report(pointer, 'the schema refers to itself endlessly', 'refer to it inside properties or items')
        }
      }
      state.set(node, 'done')
    }
    for (const { node } of this.#document.subschemas) if (!state.has(node)) visit(node)
  }

  /** The schemas that apply to the same value as a schema. */
  #sameValue(node: JsonObject): readonly JsonObject[] {
    const parts = inPlace.flatMap((word): unknown[] => {
      const value = node[word]
      if (word === 'dependentSchemas') return isObject(value) ? Object.values(value) : []
      return Array.isArray(value) ? value : [value]
    })
    return [this.#document.target(node.$ref), ...parts].filter(isObject)
  }
}
