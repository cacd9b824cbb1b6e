export { cutExample, cutText } from '../rules/cut-text.ts'
export { normalizeTags } from '../rules/normalize-tags.ts'
export type { CatalogCall, CatalogRunner } from './call-entry.ts'
export { Catalog } from './catalog.ts'
export type { FoundEntry } from './catalog-entry.ts'
export { type SelectBackend, selectNearest } from './catalog-entry.ts'
export type { CatalogCallOptions, CatalogOptions, Registration } from './catalog-options.ts'
export type { ChangeListener } from './change-listeners.ts'
export { DocStore, type DocStoreOptions, readSchemaInfo } from './doc-store.ts'
export { parseTool, toolIdOf } from './parse-tool.ts'
export type { SyncedTool } from './plan-sync.ts'
export {
  normalizeDocument,
  toSearchableTool,
  toSearchDoc,
  toSemanticDocument,
  toSummary,
} from './search-doc.ts'
export type { CatalogHit, CatalogPage, Match, SearchPageQuery } from './search-page.ts'
