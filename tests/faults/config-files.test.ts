import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../src/sources/cli/index.ts'
import { needs } from '../support/needs.ts'
import { runCli } from '../support/run-cli.ts'
import { tempFile, tempFolder } from '../support/temp-folder.ts'
import { residentBytes } from './processes.ts'
import { expectRefused, good, refusalOf } from './refusal.ts'

const megabyte = 1024 * 1024

describe('fault 3: a huge file', () => {
  it('fault 3: of 100 MB is refused by its size, unread', async () => {
    const file = join(tempFolder(), 'huge.yaml')
    const descriptor = openSync(file, 'w')
    ftruncateSync(descriptor, 100 * megabyte)
    closeSync(descriptor)
    // What is loaded with the first file read is not what is measured.
    loadConfig(tempFile('small.yaml', 'command: echo\ntools: []\n'))
    const before = residentBytes()
    const error = refusalOf(file)
    expect(residentBytes() - before).toBeLessThan(20 * megabyte)
    expect([error.code, error.message]).toEqual([
      'FILE_REFUSED',
      expect.stringContaining(`${file} has 104857600 bytes`),
    ])
    const { code, stdout } = await runCli(['validate', file])
    expect([code, stdout]).toEqual([3, expect.stringContaining('104857600 bytes')])
  })
})

describe('fault 8: encodings', () => {
  const text = 'command: echo\ndescription: "grün €"\ntools: [{name: a, description: "d"}]\n'
  const described = (content: string | Uint8Array) => loadConfig(tempFile('text.yaml', content)).description

  it('fault 8: a byte order mark is passed over', () => {
    expect(described(`\ufeff${text}`)).toBe('grün €')
  })

  it('fault 8: CRLF and CR are ends of lines', () => {
    expect(described(text.replaceAll('\n', '\r\n'))).toBe('grün €')
    expectRefused(text.replaceAll('\n', '\r\n').replace('command: echo', 'command: 1'), {
      at: ['1:10'],
      says: /command must be a string/,
    })
  })

  it('fault 8: Latin-1 is refused where it stops being UTF-8', async () => {
    const file = expectRefused(Buffer.from(text.replace('€', ''), 'latin1'), {
      code: 'FILE_REFUSED',
      at: ['2:17'],
      says: /not UTF-8/,
    })
    const { code, stdout } = await runCli(['validate', file])
    expect([code, stdout]).toEqual([3, expect.stringContaining(`${file}:2:17: is not UTF-8 here`)])
  })

  it('fault 8: UTF-16, with and without a mark, and a NUL are refused', () => {
    expectRefused(Buffer.from(text, 'utf16le'), { code: 'FILE_REFUSED', at: ['1:2'], says: /NUL/ })
    expectRefused(Buffer.from(`\ufeff${text}`, 'utf16le'), {
      code: 'FILE_REFUSED',
      at: [expect.any(String) as string],
      says: /NUL/,
    })
    expectRefused(text.replace('grün', 'gr\0n'), { code: 'FILE_REFUSED', at: ['2:17'], says: /NUL/ })
  })

  it('fault 8: half a character at the end is refused there', () => {
    const bytes = Buffer.from(`${text}# €`)
    expectRefused(bytes.subarray(0, bytes.length - 1), { code: 'FILE_REFUSED', at: ['4:3'], says: /not UTF-8/ })
  })
})

describe('fault 10: special files', () => {
  const needsUnix = needs(process.platform !== 'win32', 'needs links, pipes and devices')
  const refused = async (path: string, says: RegExp) => {
    expect(refusalOf(path)).toMatchObject({ code: 'FILE_REFUSED', message: expect.stringMatching(says) })
    const { code, stdout } = await runCli(['validate', path])
    expect([code, stdout]).toEqual([3, expect.stringMatching(says)])
  }

  needsUnix('fault 10: a symbolic link, to a good file too, is refused and names its target', async () => {
    const target = good()
    const link = join(tempFolder(), 'link.yaml')
    symlinkSync(target, link)
    await refused(link, /is a symbolic link/)
    expect(refusalOf(link).hint).toContain(target)
  })

  needsUnix('fault 10: links that lead to nothing or to themselves are refused', async () => {
    const folder = tempFolder()
    symlinkSync('/no/such/file', join(folder, 'nothing.yaml'))
    symlinkSync('loop', join(folder, 'loop'))
    await refused(join(folder, 'nothing.yaml'), /is a symbolic link/)
    await refused(join(folder, 'loop', 'x.yaml'), /is a symbolic link/)
  })

  needsUnix('fault 10: a FIFO is refused without waiting for a writer', async () => {
    const fifo = join(tempFolder(), 'fifo.yaml')
    execFileSync('mkfifo', [fifo])
    await refused(fifo, /is not a regular file/)
    const writer = spawn('sh', ['-c', `echo 'command: echo' > ${fifo}`])
    onTestFinished(() => void writer.kill())
    await refused(fifo, /is not a regular file/)
  })

  needsUnix('fault 10: devices are refused', async () => {
    await refused('/dev/zero', /is not a regular file/)
    await refused('/dev/null', /is not a regular file/)
  })

  needsUnix('fault 10: a folder and a socket are refused', async () => {
    const folder = join(tempFolder(), 'folder.yaml')
    mkdirSync(folder)
    await refused(folder, /is a folder/)
    const socket = join(tempFolder(), 'socket.yaml')
    const server = createServer().listen(socket)
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    await refused(socket, /cannot be read \(ENXIO\)|is not a regular file/)
  })

  needsUnix('fault 10: /proc/self/mem and other files without a size are bounded', () => {
    expect(refusalOf('/proc/self/environ').code).toMatch(/FILE_REFUSED|CONFIG_INVALID/)
    expect(refusalOf('/proc/kallsyms').code).toMatch(/FILE_REFUSED|CONFIG_INVALID/)
  })
})
