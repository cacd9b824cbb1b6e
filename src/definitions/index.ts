export { compileTool } from './compile-tool.ts'
export { compileTools } from './compile-tools.ts'
export { assignAliases, toAlias } from './tool-aliases.ts'
