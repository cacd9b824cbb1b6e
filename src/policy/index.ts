export { checkValues } from './check-values.ts'
export { findUnknownNames } from './find-unknown-names.ts'
export { loadPolicy, parsePolicy } from './load-policy.ts'
