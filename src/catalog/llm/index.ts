export { compileTool } from './compile-tool.ts'
export { compileTools } from './compile-tools.ts'
