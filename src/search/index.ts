export { splitIdentifiers } from './split-identifiers.ts'
export { ToolIndex, type ToolIndexOptions } from './tool-index.ts'
export { type RankedEntry, WordSearch } from './word-search.ts'
