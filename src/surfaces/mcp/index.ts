export type { ListMode } from './list-tools.ts'
export { metaTools } from './meta-tools.ts'
export { serveStdio } from './serve-stdio.ts'
