import { type BundleView, type Fields, isFields } from './bundle-view.ts'

/** A file in bundle format. */
export const wholeBundle = (value: unknown): BundleView => ({
  value,
  origin: (path) => path,
  findings: [],
  impliesCategories: false,
})

/** A file with one tool in bundle format. */
export const toolAsBundle = (tool: Fields): BundleView => ({
  ...wholeBundle({ tooldex: 1, tools: [tool] }),
  origin: (path) => path.slice(2),
})

/** A file with categories only: an array, or an object with such an array. */
export const categoriesAsBundle = (value: unknown): BundleView => ({
  ...wholeBundle({ tooldex: 1, categories: isFields(value) ? value.categories : value }),
  origin: (path) => (isFields(value) ? path : path.slice(1)),
})

/** A file with one policy, named after the file. */
export const policyAsBundle = (policy: Fields, file: string): BundleView => ({
  ...wholeBundle({ tooldex: 1, policies: [{ name: policyName(file), policy }] }),
  origin: (path) => path.slice(3),
})

const policyName = (file: string) => {
  const name = file.replace(/^.*[\\/]/s, '').replace(/\.(?:ya?ml|json)$/i, '')
  return name.replace(/[.-]policy$/, '')
}
