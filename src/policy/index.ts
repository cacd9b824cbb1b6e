export { checkValues } from './check-values.ts'
export { findUnknownNames } from './find-unknown-names.ts'
export { findUngranted, readGrants, requireGrants } from './host-grants.ts'
export { loadPolicy } from './load-policy.ts'
