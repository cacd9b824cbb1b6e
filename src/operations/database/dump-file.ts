import { createReadStream, statSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { createGunzip, createGzip, type Gzip } from 'node:zlib'
import { TooldexError } from '../../base/errors.ts'
import { LineSplitter } from '../../base/line-splitter.ts'
import { dumpRefused, readDump } from '../../storage/index.ts'

const chunkLetters = 1 << 16

/** Writes a file of lines, readable by its owner only; it appears under its name once it is complete. */
export async function writeDumpLines<Result>(
  file: string,
  work: (write: (line: string) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new TooldexError('FILE_REFUSED', `${file} is not a regular file.`)
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`)
  const handle = await openNew(file, temporary)
  try {
    const sink = new LineSink(handle, file.endsWith('.gz'))
    const result = await work((line) => sink.write(line))
    await sink.finish()
    await handle.sync()
    await handle.close()
    await rename(temporary, file)
    return result
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(temporary, { force: true })
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : notWritten(file, error)
  }
}

async function openNew(file: string, temporary: string): Promise<FileHandle> {
  try {
    await rm(temporary, { force: true })
    return await open(temporary, 'wx', 0o600)
  } catch (cause) {
    throw notWritten(file, cause)
  }
}

const notWritten = (file: string, cause: unknown) =>
  new TooldexError('FILE_REFUSED', `${file} cannot be written.`, { hint: 'Choose another file.', cause })

/** Writes lines to a file, compressed or not, with backpressure. */
class LineSink {
  readonly #handle: FileHandle
  readonly #gzip: Gzip | undefined
  readonly #drained: Promise<void>
  #text = ''

  constructor(handle: FileHandle, compressed: boolean) {
    this.#handle = handle
    this.#gzip = compressed ? createGzip() : undefined
    this.#drained = this.#drain()
    // The next write throws it.
    this.#drained.catch((error: Error) => this.#gzip?.destroy(error))
  }

  async write(line: string): Promise<void> {
    this.#text += `${line}\n`
    if (this.#text.length >= chunkLetters) await this.#flush()
  }

  async finish(): Promise<void> {
    await this.#flush()
    this.#gzip?.end()
    await this.#drained
  }

  async #flush(): Promise<void> {
    const text = this.#text
    this.#text = ''
    const gzip = this.#gzip
    if (gzip === undefined) await this.#handle.writeFile(text)
    else await new Promise<void>((resolve, reject) => gzip.write(text, (error) => (error ? reject(error) : resolve())))
  }

  async #drain(): Promise<void> {
    if (this.#gzip === undefined) return
    for await (const chunk of this.#gzip) await this.#handle.writeFile(chunk as Buffer)
  }
}

/** The lines of a file; compression is detected by its first bytes. */
export async function* readDumpLines(
  file: string,
  damaged: (cause: unknown) => TooldexError = (cause) => dumpRefused('it is damaged', cause),
): AsyncGenerator<string> {
  try {
    yield* splitLines(await openText(file))
  } catch (error) {
    if (error instanceof TooldexError) throw error
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall !== undefined)
      throw new TooldexError('FILE_REFUSED', `${file} cannot be read (${code}).`, { cause: error })
    throw damaged(error)
  }
}

async function openText(file: string): Promise<AsyncIterable<Buffer>> {
  const handle = await open(file, 'r')
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0)
  await handle.close()
  const bytes = createReadStream(file)
  if (bytesRead < 2 || buffer[0] !== 0x1f || buffer[1] !== 0x8b) return bytes
  const gunzip = createGunzip()
  bytes.on('error', (error) => gunzip.destroy(error))
  return bytes.pipe(gunzip)
}

/** The lines of a text in UTF-8. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const lines: string[] = []
  const splitter = new LineSplitter({ onLine: (line) => lines.push(decoder.decode(line)) })
  for await (const chunk of chunks) {
    splitter.push(chunk)
    yield* lines.splice(0)
  }
  splitter.end()
  yield* lines
}

/** The file of a dump, its row counts and its checksum. */
export interface SavedDump {
  readonly file: string
  readonly rows: Readonly<Record<string, number>>
  readonly sha256: string
}

/** Writes a received dump to a file; a truncated or modified one never appears under its name. */
export function saveDump(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  onProgress?: (lines: number) => void,
): Promise<SavedDump> {
  const path = resolve(file)
  return writeDumpLines(path, async (write) => {
    const checked = readDump(passOn(chunks, write, onProgress))
    for (;;) {
      const { done, value } = await checked.next()
      if (done) return { file: path, ...value }
    }
  })
}

async function* passOn(
  chunks: AsyncIterable<Uint8Array>,
  write: (line: string) => Promise<void>,
  onProgress?: (lines: number) => void,
): AsyncGenerator<string> {
  let lines = 0
  try {
    for await (const line of splitLines(chunks)) {
      await write(line)
      if (++lines % 1000 === 0) onProgress?.(lines)
      yield line
    }
  } catch (thrown) {
    throw thrown instanceof TypeError ? dumpRefused('the server closed the connection early', thrown) : thrown
  }
}
