export { describeDiff } from './describe-diff.ts'
export { diffTools } from './diff-tools.ts'
