import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { ensurePrivateFolder } from '../../base/ensure-folder.ts'
import { emptyDatabaseDir } from '../../base/package-info.ts'
import { readTar } from './read-tar.ts'

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
