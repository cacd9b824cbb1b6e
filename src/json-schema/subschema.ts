import type { JsonObject } from '../base/json-values.ts'
import { toPointer } from '../base/problem.ts'

/** A subschema in the stored document, and the same in 2020-12. */
export class Subschema {
  readonly stored: JsonObject
  readonly resource: Resource
  /**
   * With keywords of 2020-12 only, without identifiers and definitions, and with refs that `target` resolves; the stored object
   * itself if it has no others.
   */
  node: JsonObject
  /** Whether `node` is not the stored object. */
  differs = false
  /** Whether refs refer to it. */
  isTarget = false
  /** Keywords that have no effect here, because of the draft. */
  ignored: readonly string[] = none
  readonly parent: Subschema | undefined
  readonly #keyword: string
  readonly #name: string | number | undefined
  #pointer: string | undefined

  /** `keyword` and `name` lead from the parent to it. */
  constructor(stored: JsonObject, parent?: Subschema, keyword = '', name?: string | number) {
    this.stored = stored
    this.node = stored
    this.parent = parent
    this.#keyword = keyword
    this.#name = name
    const starts = typeof stored.$id === 'string' && !stored.$id.startsWith('#')
    this.resource =
      parent === undefined || starts ? { root: this, anchors: new Map(), found: new Map() } : parent.resource
  }

  /** JSON pointer in the stored document, built when it is needed: most are not. */
  get pointer(): string {
    const path: Subschema[] = []
    for (let at: Subschema | undefined = this; at !== undefined && at.#pointer === undefined; at = at.parent)
      path.push(at)
    for (const at of path.reverse()) {
      const end = at.#name === undefined ? '' : toPointer([at.#name])
      // The names of keywords need no escape.
      at.#pointer = at.parent === undefined ? '' : `${at.parent.pointer}/${at.#keyword}${end}`
    }
    return this.#pointer ?? ''
  }
}

const none: readonly string[] = []

/** A part of a document with its own `$id`: the root that `#` refers to, with its anchors. */
export interface Resource {
  readonly root: Subschema
  readonly anchors: Map<string, Subschema>
  /** The targets that were found, by the texts of their refs. */
  readonly found: Map<string, Subschema | boolean>
}

/** The reason why a ref has no target; `known` are the names that exist. */
export type RefFault =
  | { readonly reason: 'other document' }
  | { readonly reason: 'malformed' }
  | { readonly reason: 'not a schema' }
  | { readonly reason: 'no anchor'; readonly name: string; readonly known: () => readonly string[] }
  | { readonly reason: 'no key'; readonly name: string; readonly known: () => readonly string[] }

/** An occurrence of `$ref` or `$dynamicRef`. */
export interface RefUse {
  readonly ref: string
  readonly word: '$ref' | '$dynamicRef'
  readonly subschema: Subschema
  target?: Subschema | boolean
  fault?: RefFault
}
