import { createHash } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
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
import { ensurePrivateFolder } from '../../base/home-files.ts'
import { emptyDatabaseDir } from '../../base/package-info.ts'

/** The empty database that the build creates, for one version of the engine. */
export const templateFile = (version: string = engineVersion()): string =>
  join(emptyDatabaseDir, `pglite-${version}.linked.tar.br`)

/** The empty database for use in memory. */
export function templateBlob(): Blob | undefined {
  const packed = readTemplate()
  if (packed === undefined) return undefined
  return new Blob([new Uint8Array(withoutLinks(brotliDecompressSync(packed)))], { type: 'application/x-tar' })
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
// The kinds of entries in an archive; a link is a file with the content of an earlier one.
const folderKind = '5'
const linkKind = '1'

/** Replaces files with the content of an earlier one by links: the template databases of the engine are nearly the same. */
export function withTemplateLinks(archive: Buffer): Buffer {
  const paths = new Map<string, string>()
  return rewrite(archive, (header, content, path) => {
    const hash = createHash('sha256').update(content).digest('hex')
    const known = paths.get(hash)
    if (content.length === 0 || path.length > 100) return [header, padded(content)]
    if (known === undefined) {
      paths.set(hash, path)
      return [header, padded(content)]
    }
    return [relabeled(header, { kind: linkKind, link: known, size: 0 })]
  })
}

function withoutLinks(archive: Buffer): Buffer {
  const contents = new Map<string, Buffer>()
  return rewrite(archive, (header, content, path) => {
    const linked = textAt(header, 156, 1) === linkKind ? contents.get(textAt(header, 157, 100)) : undefined
    if (linked !== undefined) return [relabeled(header, { kind: '0', link: '', size: linked.length }), padded(linked)]
    contents.set(path, content)
    return [header, padded(content)]
  })
}

type Rewrite = (header: Buffer, content: Buffer, path: string) => readonly Buffer[]

function rewrite(archive: Buffer, entry: Rewrite): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (let path = ''; at < archive.length; ) {
    const header = archive.subarray(at, at + block)
    path = pathOf(header)
    if (path === '') break
    const size = sizeOf(header)
    parts.push(...entry(header, archive.subarray(at + block, at + block + size), path))
    at += block + size + (-size & (block - 1))
  }
  return Buffer.concat([...parts, archive.subarray(at)])
}

const padded = (content: Buffer): Buffer => Buffer.concat([content, Buffer.alloc(-content.length & (block - 1))])

/** A header with other fields, and its checksum, which counts itself as spaces. */
function relabeled(header: Buffer, { kind, link, size }: { kind: string; link: string; size: number }): Buffer {
  const own = Buffer.from(header)
  own.write(size.toString(8).padStart(11, '0'), 124)
  own.write(kind, 156)
  own.fill(0, 157, 257).write(link, 157)
  own.fill(' ', 148, 156)
  const sum = own.reduce((total, byte) => total + byte, 0)
  own.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return own
}

const pathOf = (header: Uint8Array): string =>
  [textAt(header, 345, 155), textAt(header, 0, 100)].filter((part) => part !== '').join('/')

const sizeOf = (header: Uint8Array): number => Number.parseInt(textAt(header, 124, 12), 8)

/** Writes the entries of a packed archive in pieces: as a whole it would be 40 MB of memory, and a long turn of the event loop. */
async function unpack(packed: Buffer, target: string): Promise<void> {
  const unpacker = createBrotliDecompress()
  unpacker.end(packed)
  try {
    await writeEntries(new ByteReader(unpacker), target)
  } finally {
    unpacker.destroy()
  }
}

async function writeEntries(bytes: ByteReader, target: string): Promise<void> {
  for (;;) {
    const header = Buffer.concat(await collect(bytes.next(block)))
    const path = pathOf(header)
    if (path === '') return
    const size = sizeOf(header)
    const kind = textAt(header, 156, 1)
    if (kind === folderKind) mkdirSync(join(target, path), { recursive: true, mode: 0o700 })
    else if (kind === linkKind) copyFileSync(join(target, textAt(header, 157, 100)), join(target, path))
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
