export { type CompileOptions, compileTool } from './compile-tool.ts'
export { compileTools } from './compile-tools.ts'
export { toAlias } from './tool-aliases.ts'
