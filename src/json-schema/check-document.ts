import { isObject, type JsonObject } from '../base/json-values.ts'
import { type Problem, toPointer } from '../base/problem.ts'
import { didYouMean } from '../base/suggest.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import { checkKeyword, type KeywordFault } from './check-keyword.ts'
import { type KeywordKind, keywords } from './keywords.ts'
import { schemaLimits, stepCosts } from './limits.ts'
import type { SchemaDocument } from './schema-document.ts'
import type { RefFault, RefUse } from './subschema.ts'

/** The problems of a schema, with pointers below `pointer`. */
export function checkDocument(document: SchemaDocument, pointer: string, budget: WorkBudget): readonly Problem[] {
  const check = new DocumentCheck(document, pointer, budget)
  if (document.subschemas.length <= schemaLimits.subschemas) return check.all()
  check.report(`the schema has more than ${schemaLimits.subschemas} subschemas`, 'simplify it')
  return check.problems
}

class DocumentCheck {
  readonly problems: Problem[] = []
  readonly #document: SchemaDocument
  readonly #keywords: ReadonlyMap<string, KeywordKind>
  /** The location of the checked part: a pointer, and the path from there. */
  #pointer: string
  readonly #path: PropertyKey[] = []
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
    this.#checkSchema(this.#document.stored, 'it')
    for (const use of this.#document.refs) this.#checkRef(use)
    // Targets of refs need not be at the position of a schema.
    for (const subschema of this.#document.subschemas) {
      if (!this.#seen.has(subschema.stored)) this.#at(subschema.pointer, () => this.#checkSchema(subschema.stored, ''))
    }
    if (this.#document.targets.size > 0) this.#reportEndless()
    return this.problems
  }

  report(message: string, hint?: string): void {
    this.#add({ path: [], message, ...(hint === undefined ? {} : { hint }) })
  }

  #add({ path, ...fault }: KeywordFault): void {
    const pointer = this.#pointer + toPointer([...this.#path, ...path])
    this.problems.push({ severity: 'error', pointer, ...fault })
  }

  #at(pointer: string, check: () => void): void {
    const outer = this.#pointer
    this.#pointer += pointer
    check()
    this.#pointer = outer
  }

  #checkPart(schema: unknown, key: PropertyKey): void {
    this.#path.push(key)
    this.#checkSchema(schema, String(key))
    this.#path.pop()
  }

  #checkSchema(schema: unknown, name: string): void {
    if (typeof schema === 'boolean') return
    if (!isObject(schema)) this.report(`${name} must be a schema: an object, true or false`)
    if (!isObject(schema) || this.#seen.has(schema)) return
    this.#seen.add(schema)
    this.#budget.spend(stepCosts.subschema, 'the number of its subschemas')
    for (const word of Object.keys(schema)) {
      const kind = this.#keywords.get(word)
      if (kind === undefined) continue
      this.#path.push(word)
      this.#checkKeyword(kind, word, schema[word])
      this.#path.pop()
    }
  }

  #checkKeyword(kind: KeywordKind, word: string, value: unknown): void {
    const isModern = this.#document.dialect === '2020-12'
    if (word === '$id' && isModern && typeof value === 'string' && value.includes('#'))
      this.report('$id must not have a fragment in 2020-12', 'use $anchor instead')
    if (kind === 'schema' || (kind === 'items' && !Array.isArray(value))) this.#checkSchema(value, word)
    else if (kind === 'items' && isModern) {
      const hint = 'use prefixItems, or set "$schema": "http://json-schema.org/draft-07/schema#"'
      this.report('items must be one schema in 2020-12, not an array', hint)
    } else if (kind === 'schemas' || kind === 'items') this.#checkArray(word, value)
    else if (kind === 'schema map' || kind === 'pattern map' || kind === 'dependencies')
      this.#checkMap(kind, word, value)
    else for (const fault of checkKeyword(kind, value, word, this.#budget)) this.#add(fault)
  }

  #checkArray(word: string, value: unknown): void {
    if (!Array.isArray(value)) {
      this.#add({ path: [], message: `${word} must be an array of schemas`, kind: 'not-array' })
      return
    }
    if (value.length === 0) this.report(`${word} must have at least one schema`)
    if (value.length > schemaLimits.branches) {
      const message = `${word} has ${value.length} schemas; at most ${schemaLimits.branches} are allowed`
      this.report(message, 'simplify it')
      return
    }
    for (const [index, schema] of value.entries()) this.#checkPart(schema, index)
  }

  #checkMap(kind: KeywordKind, word: string, value: unknown): void {
    if (!isObject(value)) {
      this.#add({ path: [], message: `${word} must be an object`, kind: 'not-object' })
      return
    }
    for (const name of Object.keys(value)) {
      const item = value[name]
      const path = [name]
      if (name === '__proto__')
        this.#add({ path, message: "the property name '__proto__' is not allowed", hint: 'choose another name' })
      if (kind === 'pattern map')
        for (const fault of checkKeyword('pattern', name, `the pattern '${name.slice(0, 100)}'`, this.#budget))
          this.#add({ ...fault, path })
      if (kind !== 'dependencies' || !Array.isArray(item)) this.#checkPart(item, name)
      else
        for (const fault of checkKeyword('names', item, name, this.#budget))
          this.#add({ ...fault, path: [name, ...fault.path] })
    }
  }

  #checkRef({ ref, word, subschema, fault }: RefUse): void {
    if (fault !== undefined) this.#at(`${subschema.pointer}/${word}`, () => this.#reportRef(ref, word, fault))
  }

  #reportRef(ref: string, word: string, fault: RefFault): void {
    const known = 'known' in fault ? fault.known() : []
    const near = () => ('name' in fault ? didYouMean(fault.name, known, this.#suggestions) : '')
    if (fault.reason === 'other document')
      this.report(`${word} must refer to the same document`, "copy the target to $defs, and write '#/$defs/...'")
    else if (fault.reason === 'malformed') this.report(`the reference '${ref}' is malformed`)
    else if (fault.reason === 'not a schema') this.report(`'${ref}' must be a schema: an object, true or false`)
    else if (fault.reason === 'no anchor')
      this.report(`'${ref}' does not exist.${near()}`, `add "$anchor": "${fault.name}" to its target`)
    else {
      const hint = known.length === 0 ? 'add its target' : `existing keys: ${known.slice(0, 20).join(', ')}`
      this.report(`'${ref}' does not exist: there is no '${fault.name}'.${near()}`, hint)
    }
  }

  /** Reports cycles of refs that apply to the same value, which would never end. */
  #reportEndless(): void {
    const state = new Map<JsonObject, 'open' | 'done'>()
    const visit = (node: JsonObject): void => {
      state.set(node, 'open')
      for (const next of this.#document.sameValue(node)) {
        const mark = state.get(next)
        if (mark === undefined) visit(next)
        else if (mark === 'open') {
          const [message, hint] = ['the schema refers to itself endlessly', 'refer to it inside properties or items']
          this.#at(this.#document.find(next)?.pointer ?? '', () => this.report(message, hint))
        }
      }
      state.set(node, 'done')
    }
    for (const { node } of this.#document.subschemas) if (!state.has(node)) visit(node)
  }
}
