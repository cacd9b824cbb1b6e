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
