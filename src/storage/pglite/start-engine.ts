import { setFlagsFromString } from 'node:v8'
import { PGlite, types } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { templateBlob } from './template.ts'

/** Starts the engine on a folder or in memory; JSON is left to the query builder, because parsing it twice would turn the string "11" into a number. */
export async function startEngine(dataDir: string | undefined): Promise<PGlite> {
  const loadDataDir = dataDir === undefined ? templateBlob() : undefined
  setFlagsFromString(`--wasm-tiering-budget=${tieringBudget.engine}`)
  try {
    return await PGlite.create({
      ...(dataDir === undefined ? {} : { dataDir }),
      ...(loadDataDir === undefined ? {} : { loadDataDir }),
      extensions: { pg_trgm },
      parsers: { [types.JSON]: asText, [types.JSONB]: asText },
      startParams: [...PGlite.defaultStartParams, '-c', `shared_buffers=${sharedBuffers}`],
    })
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${tieringBudget.others}`)
  }
}

/**
 * Work after which V8 compiles a WebAssembly function again, optimized; a module keeps the budget it was instantiated with. With the
 * default, opening the engine optimizes seventy functions, a third of the CPU time of a command; a server optimizes them later.
 */
const tieringBudget = { engine: 500_000_000, others: 1_800_000 }

// The engine touches all of them when it starts: its default of 128 MB would stay resident, and the system caches its files as well.
const sharedBuffers = '16MB'

const asText = (text: string): string => text
