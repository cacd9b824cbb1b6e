export { type Embedder, loadEncoder } from './encoder.ts'
export { PastQueries } from './past-queries.ts'
export { type EngineAnswer, type EngineHit, type EngineQuery, SearchEngine } from './search-engine.ts'
export { ToolIndex, type ToolIndexOptions } from './tool-index.ts'
