export { type OpenRegistry, openRegistry, type RegistryOptions } from './app/library.ts'
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
  SearchFilters,
  ToolAnnotations,
} from './contract/catalog.ts'
export { ArgDef, CliConfig, type CliConfigInput, ToolDef } from './contract/cli-config.ts'
export { buildInputSchema, type JsonSchema } from './contract/input-schema.ts'
export { ArgConstraint, Policy, ToolRule } from './contract/policy.ts'
export type { RankedPage, RankedTool, Ranker, RankQuery } from './contract/ranker.ts'
export { CommandResult, Isolation, RunOutcome, RunPlan } from './contract/run.ts'
export { Explanation, type SearchableTool, SearchMode } from './contract/search.ts'
export { Result, ResultPage, type SearchDoc, SemanticDocument, Summary } from './contract/summary.ts'
export { DetailLevel, DocEntry, docLimits, SchemaInfo, ToolDoc, ToolExample } from './contract/tool-doc.ts'
export { formatToolId, parseToolId, type ToolId } from './contract/tool-id.ts'
export { CliSummary, ResolvedTool, ToolIndexEntry, type ToolIndexQuery } from './contract/tool-index.ts'
export { Readiness, ReadinessState, ToolSource, ToolStatus } from './contract/tool-state.ts'
export { loadPolicy } from './policy/index.ts'
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
