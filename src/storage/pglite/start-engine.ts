import { open } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { type Extension, PGlite, type PGliteOptions, types } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { templateBlob } from './template.ts'

/** Starts the engine on a folder or in memory; JSON is left to the query builder, because parsing it twice would turn the string "11" into a number. `modules` are loaded now. */
export async function startEngine(dataDir: string | undefined, modules: readonly string[] = []): Promise<PGlite> {
  const loadDataDir = dataDir === undefined ? templateBlob() : undefined
  setBudget('instance')
  try {
    const engine = await PGlite.create({
      ...(dataDir === undefined ? {} : { dataDir }),
      ...(loadDataDir === undefined ? {} : { loadDataDir }),
      pgliteWasmModule: await compileEngine(),
      extensions: { pg_trgm, onInstance: onInstance(() => setBudget('functions')) },
      parsers: { [types.JSON]: asText, [types.JSONB]: asText },
      startParams: [...PGlite.defaultStartParams, '-c', `shared_buffers=${sharedBuffers}`],
    })
    setBudget('instance')
    for (const module of modules) await engine.exec(`load '${module}'`)
    return engine
  } finally {
    setBudget('others')
  }
}

type Module = NonNullable<PGliteOptions['pgliteWasmModule']>

/** What the types of this version of the language lack. */
interface Platform {
  readonly ArrayBuffer: new (
    bytes: number,
    options: { maxByteLength: number },
  ) => ArrayBuffer & {
    resize(bytes: number): void
  }
  readonly WebAssembly: { compile(bytes: ArrayBuffer): Promise<Module> }
}

/** Compiles the engine, and returns the memory of its file at once: an ordinary buffer of 9 MB would wait for a collection. */
async function compileEngine(): Promise<Module> {
  const platform = globalThis as unknown as Platform
  const file = await open(new URL('./pglite.wasm', import.meta.resolve('@electric-sql/pglite')))
  try {
    const { size } = await file.stat()
    const bytes = new platform.ArrayBuffer(size, { maxByteLength: size })
    await file.read(new Uint8Array(bytes), 0, size, 0)
    const module = await platform.WebAssembly.compile(bytes)
    bytes.resize(0)
    return module
  } finally {
    await file.close()
  }
}

/**
 * Work after which V8 compiles a WebAssembly function again, optimized, in the background. Every function of an instance gets the
 * budget that is set when the instance is created, and a turn of a loop takes the length of the loop from it, up to a quarter of the
 * budget that is set when the function is first compiled. With the defaults, opening the engine optimizes seventy functions, a third
 * of the CPU time of a command; and the largest, its parser and its interpreter, are soon optimized whatever the budget, which takes
 * a second and leaves 40 MB resident. With these, a server optimizes them later.
 */
const tieringBudget = { instance: 2_000_000_000, functions: 8000, others: 1_800_000 }

const setBudget = (of: keyof typeof tieringBudget): void =>
  setFlagsFromString(`--wasm-tiering-budget=${tieringBudget[of]}`)

/** An extension of the engine that calls `onCreated` when its instance is created, and no function has run. */
const onInstance = (onCreated: () => void): Extension => ({
  name: 'on-instance',
  setup: async (_engine, emscriptenOpts) => ({
    emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), onCreated] },
  }),
})

// The engine touches all of them when it starts: its default of 128 MB would stay resident, and the system caches its files as well.
const sharedBuffers = '16MB'

const asText = (text: string): string => text
