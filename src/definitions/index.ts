export { type AdapterLosses, AgentCard, type AgentCardOptions, readAgentCard, toAgentCard } from './agent-card.ts'
export { aliasCandidates, assignAliases, type CompileOptions, compileTool, compileTools } from './compile-tool.ts'
export { type ReadDefinition, readDefinition } from './read-definition.ts'
export { type DeclaredTool, declareInTypeScript } from './typescript.ts'
