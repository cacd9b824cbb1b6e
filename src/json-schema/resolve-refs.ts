import { didYouMean } from '../base/suggest.ts'
import { inPlace } from './keywords.ts'
import { isSchemaObject, type SchemaObject, type SchemaRef, type SchemaWalk } from './walk-schema.ts'

/** The targets of refs, by the schema that contains the ref and by keyword. */
export type RefTargets = Map<SchemaObject, Map<string, SchemaObject | boolean>>

/** Resolves the refs of a walk, and walks targets that are not at the position of a schema. */
export function resolveRefs(walk: SchemaWalk): RefTargets {
  const targets: RefTargets = new Map()
  // The array grows during the loop: the target of a ref may contain refs.
  for (const occurrence of walk.refs) {
    const found = findTarget(occurrence, walk)
    if (found === undefined) continue
    walk.walk(found.schema, found.path, occurrence.resource)
    if (typeof found.schema !== 'boolean' && !isSchemaObject(found.schema)) continue
    const byKeyword = targets.get(occurrence.holder) ?? new Map<string, SchemaObject | boolean>()
    targets.set(occurrence.holder, byKeyword.set(String(occurrence.path.at(-1)), found.schema))
  }
  reportEndless(walk, targets)
  return targets
}

interface Found {
  readonly schema: unknown
  readonly path: readonly PropertyKey[]
}

function findTarget({ path, ref, resource }: SchemaRef, walk: SchemaWalk): Found | undefined {
  if (!ref.startsWith('#')) {
    walk.report(
      path,
      `${String(path.at(-1))} must refer to the same document`,
      "copy the target to $defs, and write '#/$defs/...'",
    )
    return undefined
  }
  const fragment = decode(ref.slice(1))
  if (fragment === undefined) walk.report(path, `the reference '${ref}' is malformed`)
  if (fragment === undefined || fragment.startsWith('/')) return findByPointer(fragment, { path, ref, resource }, walk)
  if (fragment === '') return { schema: resource.root, path: resource.path }
  const schema = resource.anchors.get(fragment)
  if (schema === undefined)
    walk.report(
      path,
      `'${ref}' does not exist.${didYouMean(fragment, resource.anchors.keys(), walk.suggestions)}`,
      `add "$anchor": "${fragment}" to its target`,
    )
  return schema === undefined ? undefined : { schema, path: walk.seen.get(schema) ?? [] }
}

function findByPointer(
  fragment: string | undefined,
  { path, ref, resource }: Pick<SchemaRef, 'path' | 'ref' | 'resource'>,
  walk: SchemaWalk,
): Found | undefined {
  if (fragment === undefined) return undefined
  const parts = fragment
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  let schema: unknown = resource.root
  for (const part of parts) {
    const parent: object = typeof schema === 'object' && schema !== null ? schema : {}
    if (!Object.hasOwn(parent, part)) {
      walk.report(
        path,
        `'${ref}' does not exist: there is no '${part}'.${didYouMean(part, Object.keys(parent), walk.suggestions)}`,
        nearHint(Object.keys(parent)),
      )
      return undefined
    }
    schema = (parent as Record<string, unknown>)[part]
  }
  return { schema, path: [...resource.path, ...parts] }
}

const nearHint = (keys: readonly string[]): string =>
  keys.length === 0 ? 'add its target' : `existing keys: ${keys.slice(0, 20).join(', ')}`

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Reports cycles of refs that apply to the same value, which would never end. */
function reportEndless(walk: SchemaWalk, targets: RefTargets): void {
  const state = new Map<SchemaObject, 'open' | 'done'>()
  const visit = (schema: SchemaObject): void => {
    state.set(schema, 'open')
    for (const next of sameValue(schema, targets)) {
      const mark = state.get(next)
      if (mark === undefined) visit(next)
      else if (mark === 'open')
        walk.report(
          walk.seen.get(next) ?? [],
          'the schema refers to itself endlessly',
          'refer to it inside properties or items',
        )
    }
    state.set(schema, 'done')
  }
  for (const schema of walk.seen.keys()) if (!state.has(schema)) visit(schema)
}

function sameValue(schema: SchemaObject, targets: RefTargets): readonly SchemaObject[] {
  const refs = [...(targets.get(schema)?.values() ?? [])]
  const parts = inPlace.flatMap((word): unknown[] => {
    const value = schema[word]
    if (word === 'dependentSchemas') return isSchemaObject(value) ? Object.values(value) : []
    return Array.isArray(value) ? value : [value]
  })
  return [...refs, ...parts].filter(isSchemaObject)
}
