export { planBundle } from './plan-bundle.ts'
export { readBundle } from './read-bundle.ts'
export { readBundleFolder } from './read-bundle-folder.ts'
export { writeBundle } from './write-bundle.ts'
