import type { Bundle } from '../../contract/bundle.ts'
import type { BundlePart } from './read-part.ts'

/** Joins the content of files into one bundle, sorted by name. */
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

/** Sorts a bundle by name, independent of the locale. */
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
