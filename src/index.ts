export { createTooldex, type Tooldex, type TooldexOptions } from './app/create-tooldex.ts'
export { type ErrorCode, errorTable, TooldexError } from './base/errors.ts'
export { encoderFile } from './base/package-info.ts'
export type { Problem } from './base/problem.ts'
export {
  Catalog,
  type CatalogCall,
  type CatalogCallOptions,
  type CatalogHit,
  type CatalogOptions,
  type CatalogPage,
  type CatalogRunner,
  type ChangeListener,
  cutExample,
  cutText,
  DocStore,
  type DocStoreOptions,
  normalizeDocument,
  normalizeTags,
  parseTool,
  type Registration,
  readSchemaInfo,
  type SearchPageQuery,
  type SelectBackend,
  selectNearest,
  toolIdOf,
  toSearchDoc,
  toSemanticDocument,
  toSummary,
} from './catalog/index.ts'
export {
  Backend,
  type CatalogEvent,
  CatalogTool,
  type CatalogToolInput,
  Readiness,
  ReadinessState,
  SearchFilters,
  ToolAnnotations,
  ToolSource,
  ToolStatus,
} from './contract/catalog.ts'
export { ArgDef, CliConfig, type CliConfigInput, ToolDef } from './contract/cli-config.ts'
export type { FunctionContext, FunctionTool } from './contract/executor.ts'
export type { CompiledTool, CompiledTools, LlmDefinition, LlmFormat, LlmTool, Loss } from './contract/llm.ts'
export { ArgConstraint, Policy, ToolRule } from './contract/policy.ts'
export { CommandResult, Isolation, RunOutcome, RunPlan } from './contract/run.ts'
export type { RankedPage, RankedTool, Ranker, RankQuery } from './contract/search.ts'
export {
  Explanation,
  Result,
  ResultPage,
  type SearchableTool,
  type SearchDoc,
  SearchMode,
  SemanticDocument,
  Summary,
} from './contract/search.ts'
export { DetailLevel, DocEntry, docLimits, SchemaInfo, ToolDoc, ToolExample } from './contract/tool-doc.ts'
export type { JsonSchema } from './contract/tool-index.ts'
export { CliSummary, ResolvedTool, ToolIndexEntry, type ToolIndexQuery } from './contract/tool-index.ts'
export {
  type AdapterLosses,
  AgentCard,
  type AgentCardOptions,
  type CompileOptions,
  compileTool,
  compileTools,
  type ReadDefinition,
  readAgentCard,
  readDefinition,
  toAgentCard,
} from './definitions/index.ts'
export { loadPolicy } from './policy/index.ts'
export { buildInputSchema } from './rules/build-input-schema.ts'
export { formatToolId, parseToolId, type ToolId } from './rules/tool-id.ts'
export {
  type Embedder,
  type EngineAnswer,
  type EngineHit,
  type EngineQuery,
  loadEncoder,
  PastQueries,
  SearchEngine,
  ToolIndex,
  type ToolIndexOptions,
} from './search/index.ts'
export { loadConfig } from './sources/cli/index.ts'
export { defineTool, type FunctionDefinition, type FunctionSchema } from './sources/code/define-tool.ts'
export type { SdkBindings } from './surfaces/library/bindings.ts'
