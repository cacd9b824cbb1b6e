import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { TooldexError } from '../base/errors.ts'

/** A larger YAML file is rejected before it is read. */
export const maxFileBytes = 5 * 1024 * 1024

/** Reads a regular UTF-8 file of bounded size: links, pipes, devices and other encodings are rejected, without blocking. */
export function readTextFile(path: string, maxBytes = maxFileBytes, largeHint?: string): string {
  const descriptor = open(path)
  try {
    const stat = fstatSync(descriptor)
    if (stat.isDirectory()) throw refuse(path, 'is a folder, not a file')
    if (!stat.isFile()) throw refuse(path, 'is not a regular file')
    if (stat.size > maxBytes)
      throw refuse(path, `has ${stat.size} bytes; a file may have at most ${maxBytes}`, largeHint)
    return decode(path, readUpTo(descriptor, maxBytes + 1, stat.size))
  } finally {
    closeSync(descriptor)
  }
}

function open(path: string): number {
  try {
    // Without NONBLOCK the open of a FIFO waits for a writer.
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new TooldexError('CONFIG_NOT_FOUND', `${path} does not exist.`, {
        hint: 'Check the path.',
        cause,
      })
    }
    if (code === 'ELOOP') {
      throw refuse(path, 'is a symbolic link', linkHint(path))
    }
    throw refuse(path, `cannot be read (${code ?? 'unknown error'})`)
  }
}

function linkHint(path: string): string | undefined {
  try {
    return `Use the file itself: ${resolve(dirname(path), readlinkSync(path))}`
  } catch {
    // The link is a parent folder in a loop of links.
    return undefined
  }
}

function readUpTo(descriptor: number, maxBytes: number, expected: number): Buffer {
  const chunks: Buffer[] = []
  let total = 0
  while (total < maxBytes) {
    const chunk = Buffer.allocUnsafe(Math.min(Math.max(expected - total, 64), maxBytes - total))
    const size = readSync(descriptor, chunk)
    if (size === 0) break
    total += size
    chunks.push(chunk.subarray(0, size))
  }
  return Buffer.concat(chunks)
}

function decode(path: string, bytes: Buffer): string {
  if (bytes.includes(0)) throw refuseAt(path, bytes, bytes.indexOf(0), 'has a NUL byte here, so it is not text')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refuseAt(path, bytes, firstBadByte(bytes), 'is not UTF-8 here')
  }
}

function refuseAt(file: string, bytes: Buffer, offset: number, message: string): TooldexError {
  // As a stream, because the position may be within a character.
  const before = new TextDecoder().decode(bytes.subarray(0, offset), { stream: true })
  const lines = before.split('\n')
  const [line, column] = [lines.length, (lines.at(-1) ?? '').length + 1]
  const hint = 'Save it as UTF-8.'
  const problems = [{ severity: 'error', file, line, column, message, hint } as const]
  return new TooldexError('FILE_REFUSED', `${file}:${line}:${column}: ${message}.`, { hint, problems })
}

/** The offset at which decoding fails, by binary search; only for files that are already rejected. */
function firstBadByte(bytes: Buffer): number {
  let [good, bad] = [0, bytes.length]
  while (good < bad) {
    const middle = Math.ceil((good + bad) / 2)
    if (decodes(bytes.subarray(0, middle))) good = middle
    else bad = middle - 1
  }
  return good
}

function decodes(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

const refuse = (path: string, why: string, hint?: string) =>
  new TooldexError('FILE_REFUSED', `${path} ${why}.`, hint === undefined ? {} : { hint })
