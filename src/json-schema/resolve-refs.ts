import { didYouMean } from '../base/suggest.ts'
import { inPlace } from './keywords.ts'
import { isSchemaObject, type SchemaObject, type SchemaRef, type SchemaWalk } from './walk-schema.ts'

/** What each `$ref` means: the schema that holds it, the keyword, and the schema it leads to. */
export type RefTargets = Map<SchemaObject, Map<string, SchemaObject | boolean>>

/** Finds what the refs of a walk lead to, walking on into places that are no schemas by themselves. */
export function resolveRefs(walk: SchemaWalk): RefTargets {
  const targets: RefTargets = new Map()
  // The list grows while it is read: what a ref leads to may have refs of its own.
  for (const met of walk.refs) {
    const found = findTarget(met, walk)
    if (found === undefined) continue
    walk.walk(found.schema, found.path, met.resource)
    if (typeof found.schema !== 'boolean' && !isSchemaObject(found.schema)) continue
    const held = targets.get(met.holder) ?? new Map<string, SchemaObject | boolean>()
    targets.set(met.holder, held.set(String(met.path.at(-1)), found.schema))
  }
  refuseEndless(walk, targets)
  return targets
}

interface Found {
  readonly schema: unknown
  readonly path: readonly PropertyKey[]
}

function findTarget({ path, ref, resource }: SchemaRef, walk: SchemaWalk): Found | undefined {
  if (!ref.startsWith('#')) {
    walk.say(
      path,
      `${String(path.at(-1))} may only lead to the same document`,
      "copy what it means under $defs, and write '#/$defs/...'",
    )
    return undefined
  }
  const fragment = decode(ref.slice(1))
  if (fragment === undefined) walk.say(path, `the reference '${ref}' is not well formed`)
  if (fragment === undefined || fragment.startsWith('/')) return findByPointer(fragment, { path, ref, resource }, walk)
  if (fragment === '') return { schema: resource.root, path: resource.path }
  const schema = resource.anchors.get(fragment)
  if (schema === undefined)
    walk.say(
      path,
      `'${ref}' leads nowhere.${didYouMean(fragment, resource.anchors.keys(), walk.suggestions)}`,
      `add "$anchor": "${fragment}" where it should lead`,
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
    const holder: object = typeof schema === 'object' && schema !== null ? schema : {}
    if (!Object.hasOwn(holder, part)) {
      walk.say(
        path,
        `'${ref}' leads nowhere: there is no '${part}'.${didYouMean(part, Object.keys(holder), walk.suggestions)}`,
        nearHint(Object.keys(holder)),
      )
      return undefined
    }
    schema = (holder as Record<string, unknown>)[part]
  }
  return { schema, path: [...resource.path, ...parts] }
}

const nearHint = (keys: readonly string[]): string =>
  keys.length === 0 ? 'add what it should lead to' : `there are: ${keys.slice(0, 20).join(', ')}`

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Refs that lead back to themselves with no step into the value would never end. */
function refuseEndless(walk: SchemaWalk, targets: RefTargets): void {
  const state = new Map<SchemaObject, 'open' | 'done'>()
  const visit = (schema: SchemaObject): void => {
    state.set(schema, 'open')
    for (const next of sameValue(schema, targets)) {
      const known = state.get(next)
      if (known === undefined) visit(next)
      else if (known === 'open')
        walk.say(
          walk.seen.get(next) ?? [],
          'the schema refers to itself without end',
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
    const held = schema[word]
    if (word === 'dependentSchemas') return isSchemaObject(held) ? Object.values(held) : []
    return Array.isArray(held) ? held : [held]
  })
  return [...refs, ...parts].filter(isSchemaObject)
}
