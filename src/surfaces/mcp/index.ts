export { isClimaxAlias } from './climax-aliases.ts'
export { combineTools, type McpTools, toolsOfContext } from './mcp-tools.ts'
export { serveStdio } from './serve-stdio.ts'
