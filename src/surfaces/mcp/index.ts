export { isClimaxAlias } from './climax-aliases.ts'
export { type ListMode, modeOf } from './list-mode.ts'
export { combineTools, type McpTools, toolsOfContext } from './mcp-tools.ts'
export { serveStdio } from './serve-stdio.ts'
