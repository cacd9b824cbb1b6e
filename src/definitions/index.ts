export { compileTool } from './compile-tool.ts'
export { compileTools } from './compile-tools.ts'
export { aliasCandidates, assignAliases } from './tool-aliases.ts'
export { type DeclaredTool, declareTool } from './typescript/declare-tool.ts'
