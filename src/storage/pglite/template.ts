import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, createBrotliDecompress } from 'node:zlib'
import { ensurePrivateFolder } from '../../base/file-system.ts'
import { emptyDatabaseDir } from '../../base/package-info.ts'

/** The empty database that the build creates, for one version of the engine. */
export const templateFile = (version: string = engineVersion()): string =>
  join(emptyDatabaseDir, `pglite-${version}.tar.br`)

/** The empty database for use in memory. */
export function templateBlob(): Blob | undefined {
  const packed = readTemplate()
  if (packed === undefined) return undefined
  return new Blob([new Uint8Array(brotliDecompressSync(packed))], { type: 'application/x-tar' })
}

/** Unpacks an empty database atomically: creating one takes the engine seconds. */
export async function unpackTemplate(folder: string): Promise<void> {
  if (existsSync(join(folder, 'PG_VERSION'))) return
  const packed = readTemplate()
  if (packed === undefined) {
    ensurePrivateFolder(folder)
    return
  }
  const partial = `${folder}.new`
  rmSync(partial, { recursive: true, force: true })
  ensurePrivateFolder(partial)
  try {
    await unpack(packed, partial)
    renameBroken(folder)
    renameSync(partial, folder)
  } catch (error) {
    // On a full disk no partial file may remain.
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
}

function readTemplate(): Buffer | undefined {
  try {
    return readFileSync(templateFile())
  } catch {
    return undefined
  }
}

function engineVersion(): string {
  const manifest = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'))
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

/** Renames a folder that is not a valid database, because it may contain the rest of one. */
function renameBroken(folder: string): void {
  if (!existsSync(folder)) return
  if (readdirSync(folder).length === 0) rmdirSync(folder)
  else renameSync(folder, `${folder}.broken-${Date.now()}`)
}

const block = 512

/** Writes the entries of a packed archive in pieces: as a whole it would be 40 MB of memory, and a long turn of the event loop. */
async function unpack(packed: Buffer, target: string): Promise<void> {
  const unpacker = createBrotliDecompress()
  unpacker.end(packed)
  try {
    await writeEntries(new ByteReader(unpacker), target)
  } finally {
    // Releases its window of 16 MB now.
    unpacker.destroy()
  }
}

async function writeEntries(bytes: ByteReader, target: string): Promise<void> {
  for (;;) {
    const header = Buffer.concat(await collect(bytes.next(block)))
    const path = [textAt(header, 345, 155), textAt(header, 0, 100)].filter((part) => part !== '').join('/')
    if (path === '') return
    const size = Number.parseInt(textAt(header, 124, 12), 8)
    const isFolder = textAt(header, 156, 1) === '5'
    if (isFolder) mkdirSync(join(target, path), { recursive: true, mode: 0o700 })
    else await writePieces(join(target, path), bytes.next(size))
    await collect(bytes.next(-size & (block - 1)))
  }
}

async function writePieces(file: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  const handle = openSync(file, 'w', 0o600)
  try {
    for await (const piece of pieces) writeSync(handle, piece)
  } finally {
    closeSync(handle)
  }
}

async function collect(pieces: AsyncIterable<Buffer>): Promise<readonly Buffer[]> {
  const all: Buffer[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}

/** Reads a stream by numbers of bytes. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next bytes, in pieces; fewer at the end of the stream. */
  async *next(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; ) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#source.next()
        if (done) return
        this.#rest = value
      }
      const piece = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }
}

function textAt(header: Uint8Array, start: number, length: number): string {
  const field = header.subarray(start, start + length)
  const end = field.indexOf(0)
  return Buffer.from(end < 0 ? field : field.subarray(0, end))
    .toString()
    .trim()
}
