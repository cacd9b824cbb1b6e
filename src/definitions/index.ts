export { compileTool } from './compile-tool.ts'
export { compileTools } from './compile-tools.ts'
export { aliasCandidates, assignAliases } from './tool-aliases.ts'
