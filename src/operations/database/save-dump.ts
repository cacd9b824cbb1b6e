import { resolve } from 'node:path'
import { dumpRefused, readDump } from '../../storage/index.ts'
import { splitLines, writeLines } from './dump-file.ts'

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
  return writeLines(path, async (write) => {
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
