export { describeDiff } from './describe-diff.ts'
export { diffSchemas } from './diff-schemas.ts'
export { diffTools } from './diff-tools.ts'
export { sameContent } from './same-content.ts'
