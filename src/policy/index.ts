export { checkBoundValues } from './check-bound-values.ts'
export { findUngranted, readGrants, requireGrants, requireServerGrants } from './host-grants.ts'
export { findUnknownNames, loadPolicy, parsePolicy } from './load-policy.ts'
