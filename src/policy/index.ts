export { checkValues } from './check-values.ts'
export { findUngranted, readGrants, requireGrants } from './host-grants.ts'
export { findUnknownNames, loadPolicy } from './load-policy.ts'
