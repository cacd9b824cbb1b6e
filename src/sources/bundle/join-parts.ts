import type { Bundle } from '../../contract/bundle.ts'
import type { BundlePart } from './read-part.ts'

/** All that some files say as one bundle, in the order of names. */
export function joinParts(parts: readonly BundlePart[]): Bundle {
  const declared = parts.flatMap(({ bundle }) => bundle.categories)
  const names = new Set(declared.map(({ name }) => name))
  const used = parts.filter((part) => part.impliesCategories).flatMap(({ bundle }) => bundle.tools)
  const implied = new Set(used.flatMap(({ category }) => category ?? []).filter((name) => !names.has(name)))
  return sortBundle({
    tooldex: 1,
    categories: [...declared, ...Array.from(implied, (name) => ({ name, description: null, parent: null }))],
    tools: parts.flatMap(({ bundle }) => bundle.tools),
    policies: parts.flatMap(({ bundle }) => bundle.policies),
  })
}

/** A bundle in the order of names, which is the same on every machine. */
export function sortBundle({ tooldex, categories, tools, policies }: Bundle): Bundle {
  return {
    tooldex,
    categories: categories.toSorted(byName),
    tools: tools.toSorted(byName),
    policies: policies.toSorted(byName),
  }
}

const byName = (a: { readonly name: string }, b: { readonly name: string }) =>
  a.name < b.name ? -1 : Number(a.name > b.name)
