export { type CompileOptions, compileTool, compileTools } from './compile-tool.ts'
export { aliasCandidates, assignAliases } from './tool-aliases.ts'
export { type DeclaredTool, declareTool } from './typescript/declare-tool.ts'
