import { type Problem, toPointer } from '../../base/problem.ts'
import { didYouMean } from '../../base/suggest.ts'
import { type Bundle, type BundleCategory, type BundleSource, bundleKinds } from '../../contract/bundle.ts'
import { findCategoryNameProblem, registryLimits } from '../../contract/registry.ts'
import { type Finding, toProblem } from '../../diagnostics/finding.ts'
import { checkLimitRule } from '../../rules/limit-rules.ts'
import { checkPolicy, type FaultOfPattern } from '../../rules/policy-rules.ts'
import { findLiteralSecrets } from '../../rules/server-definition.ts'
import { checkToolset } from '../../rules/toolset-rules.ts'
import type { BundlePart } from './read-part.ts'

type Part = Pick<BundlePart, 'bundle' | 'impliesCategories' | 'show'>

/** A problem of one file in relation to the others. */
export interface PartFinding<Seen = BundlePart> extends Finding {
  readonly part: Seen
}

/** Problems of a bundle that was sent as data instead of text, at JSON pointers. */
export function checkSentBundle(bundle: Bundle, faultOf?: FaultOfPattern): readonly Problem[] {
  const found = [
    ...checkBundleRules(bundle, faultOf),
    ...checkBundleNames([{ bundle, impliesCategories: false, show: toPointer }]),
  ]
  return found.map((finding) => toProblem(finding))
}

/** Contradictions in the policies, toolsets and limits of a bundle, and secrets in its sources. */
export function checkBundleRules(
  { policies, toolsets, limits, sources }: Bundle,
  faultOf?: FaultOfPattern,
): readonly Finding[] {
  const below = (path: readonly PropertyKey[], found: readonly Finding[]) =>
    found.map((finding) => ({ ...finding, path: [...path, ...finding.path] }))
  return [
    ...policies.flatMap(({ policy }, index) => below(['policies', index, 'policy'], checkPolicy(policy, faultOf))),
    ...toolsets.flatMap((toolset, index) => below(['toolsets', index], checkToolset(toolset, faultOf))),
    ...limits.flatMap((limit, index) => below(['limits', index], checkLimitRule(limit))),
    ...sources.flatMap(({ server }, index) => below(['sources', index, 'server'], checkServer(server))),
  ]
}

/** A file is read by many, so it refers to secrets. */
const checkServer = (server: BundleSource['server']): readonly Finding[] =>
  findLiteralSecrets(server).map((path) => ({
    path,
    message: `${path[1]} is a secret, and a bundle contains none`,
    hint: 'store it with: tooldex secrets set NAME, and write secret:NAME',
  }))

/** Duplicate names and, if all files could be read, unknown names. */
export function checkBundleNames<Seen extends Part>(
  parts: readonly Seen[],
  complete = true,
): readonly PartFinding<Seen>[] {
  const twice = bundleKinds.flatMap((kind) => findTwice(parts, kind))
  const wrong = findMisnamed(parts)
  const found = [...twice, ...wrong]
  return complete ? [...found, ...findUnknown(parts), ...findCycles(parts), ...findDeep(parts)] : found
}

const singular = {
  tools: 'tool',
  categories: 'category',
  policies: 'policy',
  toolsets: 'toolset',
  limits: 'limit',
  sources: 'source',
} as const

function findTwice<Seen extends Part>(
  parts: readonly Seen[],
  kind: keyof typeof singular,
): readonly PartFinding<Seen>[] {
  const first = new Map<string, string>()
  return parts.flatMap((part) =>
    part.bundle[kind].flatMap(({ name }, index) => {
      const path = [kind, index, 'name']
      const known = first.get(name)
      if (known === undefined) first.set(name, part.show(path))
      return known === undefined
        ? []
        : [
            {
              part,
              path,
              message: `the ${singular[kind]} '${name}' is already at ${known}`,
              hint: 'keep one',
            },
          ]
    }),
  )
}

function findUnknown<Seen extends Part>(parts: readonly Seen[]): readonly PartFinding<Seen>[] {
  const implied = parts.filter((part) => part.impliesCategories).flatMap(({ bundle }) => bundle.tools)
  const declared = parts.flatMap(({ bundle }) => bundle.categories.map(({ name }) => name))
  const names = new Set([...declared, ...implied.flatMap(({ category }) => category ?? [])])
  const ask = (part: Seen, name: string | null, path: readonly PropertyKey[]): readonly PartFinding<Seen>[] => {
    if (name === null || names.has(name)) return []
    const message = `there is no category '${name}'.${didYouMean(name, names)}`
    return [{ part, path, message, hint: 'name one of categories, or add it there' }]
  }
  return parts.flatMap((part) => [
    ...part.bundle.categories.flatMap(({ parent }, index) => ask(part, parent, ['categories', index, 'parent'])),
    ...part.bundle.tools.flatMap(({ category }, index) => ask(part, category, ['tools', index, 'category'])),
  ])
}

/** Invalid category names, including those that only tools reference. */
function findMisnamed<Seen extends Part>(parts: readonly Seen[]): readonly PartFinding<Seen>[] {
  const ask = (part: Seen, name: string | null, path: readonly PropertyKey[]): readonly PartFinding<Seen>[] => {
    const wrong = name === null ? undefined : findCategoryNameProblem(name)
    return wrong === undefined ? [] : [{ part, path, message: `the name of a category ${wrong}`, hint: 'rename it' }]
  }
  return parts.flatMap((part) => [
    ...part.bundle.categories.flatMap(({ name }, index) => ask(part, name, ['categories', index, 'name'])),
    ...(part.impliesCategories
      ? part.bundle.tools.flatMap(({ category }, index) => ask(part, category, ['tools', index, 'category']))
      : []),
  ])
}

/** Reports each cycle once, at the first of its categories. */
function findCycles<Seen extends Part>(parts: readonly Seen[]): readonly PartFinding<Seen>[] {
  const parents = new Map(parts.flatMap(({ bundle }) => bundle.categories.map(toParent)))
  const visited = new Set<string>()
  return parts.flatMap((part) =>
    part.bundle.categories.flatMap(({ name }, index) => {
      const circle = walkUp(name, parents, visited)
      if (circle === undefined) return []
      const message = `the category '${name}' is its own ancestor: ${[...circle, name].join(' in ')}`
      return [{ part, path: ['categories', index, 'parent'], message, hint: 'remove one of them' }]
    }),
  )
}

/** Reports the first level that is too deep, not those below it. */
function findDeep<Seen extends Part>(parts: readonly Seen[]): readonly PartFinding<Seen>[] {
  const parents = new Map(parts.flatMap(({ bundle }) => bundle.categories.map(toParent)))
  return parts.flatMap((part) =>
    part.bundle.categories.flatMap(({ name }, index) => {
      if (levelOf(name, parents) !== maxLevels + 1) return []
      const message = `the category '${name}' is too deep: categories nest at most ${maxLevels} levels deep`
      return [{ part, path: ['categories', index, 'parent'], message, hint: 'choose a parent at a higher level' }]
    }),
  )
}

const maxLevels = registryLimits.categoryDepth

/** The level of a category (top: 1), counted only as far as the limit needs. */
function levelOf(name: string, parents: ReadonlyMap<string, string | null>): number {
  let level = 0
  for (let at: string | null | undefined = name; at != null && level < maxLevels + 2; at = parents.get(at)) level += 1
  return level
}

const toParent = ({ name, parent }: BundleCategory) => [name, parent] as const

/** The path of parents from a category back to itself, if there is one; visited categories are skipped. */
function walkUp(name: string, parents: ReadonlyMap<string, string | null>, visited: Set<string>) {
  const way: string[] = []
  const own = new Set<string>()
  let at: string | null | undefined = name
  while (at != null && !visited.has(at)) {
    visited.add(at)
    own.add(at)
    way.push(at)
    at = parents.get(at)
  }
  return at != null && own.has(at) ? way.slice(way.indexOf(at)) : undefined
}
