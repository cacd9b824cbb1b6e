import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { ensurePrivateFolder } from '../../base/ensure-folder.ts'
import { emptyDatabaseDir } from '../../base/package-info.ts'
import { readTar } from './read-tar.ts'

/** Where the build puts a database with nothing in it; one of another engine is none. */
export const templateFile = (version: string = engineVersion()): string =>
  join(emptyDatabaseDir, `pglite-${version}.tar.br`)

/** Making a database takes the engine seconds; unpacking one takes a moment. It appears whole or not at all. */
export function unpackTemplate(folder: string): void {
  if (existsSync(join(folder, 'PG_VERSION'))) return
  const tar = readTemplate()
  if (tar === undefined) {
    ensurePrivateFolder(folder)
    return
  }
  const growing = `${folder}.new`
  rmSync(growing, { recursive: true, force: true })
  ensurePrivateFolder(growing)
  try {
    unpack(tar, growing)
    renameOldTables(folder)
    renameSync(growing, folder)
  } catch (error) {
    // On a full disk every file that stays is one too many.
    rmSync(growing, { recursive: true, force: true })
    throw error
  }
}

function unpack(tar: Buffer, target: string): void {
  for (const { path, content } of readTar(tar)) {
    if (content === undefined) mkdirSync(join(target, path), { recursive: true, mode: 0o700 })
    else writeFileSync(join(target, path), content, { mode: 0o600 })
  }
}

/** What is there is no database that can be opened, but it may be all that is left of one. */
function renameOldTables(folder: string): void {
  if (!existsSync(folder)) return
  if (readdirSync(folder).length === 0) rmdirSync(folder)
  else renameSync(folder, `${folder}.broken-${Date.now()}`)
}

/** The same for a database in memory. */
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
