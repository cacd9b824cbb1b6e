export { isClimaxAlias } from './climax-aliases.ts'
export { serveStdio } from './serve-stdio.ts'
