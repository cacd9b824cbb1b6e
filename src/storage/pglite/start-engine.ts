import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { brotliDecompressSync } from 'node:zlib'
import { PGlite, types } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { ensurePrivateFolder } from '../../base/file-system.ts'
import { emptyDatabaseDir } from '../../base/package-info.ts'

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

const asText = (text: string): string => text

/** The empty database that the build creates, for one version of the engine. */
export const templateFile = (version: string = engineVersion()): string =>
  join(emptyDatabaseDir, `pglite-${version}.tar.br`)

/** Unpacks an empty database atomically: creating one takes the engine seconds. */
export function unpackTemplate(folder: string): void {
  if (existsSync(join(folder, 'PG_VERSION'))) return
  const tar = readTemplate()
  if (tar === undefined) {
    ensurePrivateFolder(folder)
    return
  }
  const partial = `${folder}.new`
  rmSync(partial, { recursive: true, force: true })
  ensurePrivateFolder(partial)
  try {
    unpack(tar, partial)
    renameBroken(folder)
    renameSync(partial, folder)
  } catch (error) {
    // On a full disk no partial file may remain.
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
}

function unpack(tar: Buffer, target: string): void {
  for (const { path, content } of readTar(tar)) {
    if (content === undefined) mkdirSync(join(target, path), { recursive: true, mode: 0o700 })
    else writeFileSync(join(target, path), content, { mode: 0o600 })
  }
}

/** Renames a folder that is not a valid database, because it may contain the rest of one. */
function renameBroken(folder: string): void {
  if (!existsSync(folder)) return
  if (readdirSync(folder).length === 0) rmdirSync(folder)
  else renameSync(folder, `${folder}.broken-${Date.now()}`)
}

/** The empty database for use in memory. */
export function templateBlob(): Blob | undefined {
  const tar = readTemplate()
  return tar === undefined ? undefined : new Blob([new Uint8Array(tar)], { type: 'application/x-tar' })
}

function readTemplate(): Buffer | undefined {
  try {
    return brotliDecompressSync(readFileSync(templateFile()))
  } catch {
    return undefined
  }
}

function engineVersion(): string {
  const manifest = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'))
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

/** A file or, without content, a folder of an archive. */
interface TarEntry {
  readonly path: string
  readonly content: Uint8Array | undefined
}

const block = 512

/** The entries of a plain tar archive, as the engine dumps its data folder. */
export function* readTar(tar: Uint8Array): Generator<TarEntry> {
  for (let at = 0; at + block <= tar.length; ) {
    const header = tar.subarray(at, at + block)
    const path = [textAt(header, 345, 155), textAt(header, 0, 100)].filter((part) => part !== '').join('/')
    if (path === '') return
    const size = Number.parseInt(textAt(header, 124, 12), 8)
    const isFolder = textAt(header, 156, 1) === '5'
    yield { path, content: isFolder ? undefined : tar.subarray(at + block, at + block + size) }
    at += block + Math.ceil(size / block) * block
  }
}

function textAt(header: Uint8Array, start: number, length: number): string {
  const field = header.subarray(start, start + length)
  const end = field.indexOf(0)
  return Buffer.from(end < 0 ? field : field.subarray(0, end))
    .toString()
    .trim()
}
