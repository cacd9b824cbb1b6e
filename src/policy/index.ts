export { checkValues } from './check-values.ts'
export { findUngranted, readGrants, requireGrants } from './host-grants.ts'
export { findUnknownNames, loadPolicy, parsePolicy } from './load-policy.ts'
