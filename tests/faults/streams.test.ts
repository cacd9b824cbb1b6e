import { describe, expect, it } from 'vitest'
import { tempScript } from '../support/temp-folder.ts'
import { findProcesses, uniqueSeconds } from './processes.ts'
import { containments, runTool } from './run-tool.ts'

const input = { name: 'input', stdin: true }
const python = (text: string) => tempScript('tool', `#!/usr/bin/env python3\nimport os, sys, time\n${text}\n`)

describe('fault 63: 200 MB for a program that does not read them', () => {
  const huge = 'x'.repeat(200 * 1024 * 1024)
  const give = { given: { input: huge } }

  for (const { kind, containment, it } of containments) {
    it(`fault 63 (${kind}): one that ends at once: the broken pipe is its own affair`, async () => {
      const { status, result } = await runTool({ command: 'true', tool: { args: [input] } }, { containment, ...give })
      expect([status, result.exitCode, result.stderr]).toEqual(['SUCCESS', 0, ''])
      const next = await runTool({ command: 'echo well' }, { containment })
      expect(next.result.stdout).toBe('well\n')
    })

    it(`fault 63 (${kind}): one that sleeps is ended at its limit and gone`, async () => {
      const seconds = uniqueSeconds()
      const tool = { args: [input], timeout: 0.5 }
      const { status } = await runTool({ command: `sleep ${seconds}`, tool }, { containment, ...give })
      expect([status, findProcesses(seconds)]).toEqual(['TIMEOUT', []])
    })
  }

  it('fault 63: one that closes stdin and goes on is let go on', async () => {
    const command = python('os.close(0)\ntime.sleep(0.3)\nprint("done")')
    const { status, result } = await runTool({ command, tool: { args: [input] } }, give)
    expect([status, result.stdout]).toEqual(['SUCCESS', 'done\n'])
  })

  it('fault 63: one that reads all gets all', async () => {
    const { result } = await runTool({ command: 'wc -c', tool: { args: [input], timeout: 150 } }, give)
    expect(result.stdout.trim()).toBe(String(huge.length))
  })
})

describe('fault 64: output that is not text, or is cut within a character', () => {
  it('fault 64: characters that arrive a byte at a time are whole', async () => {
    const text = 'aé€😀ß漢字👩‍🚀z'
    const command = python(`for byte in '${text}'.encode():\n    os.write(1, bytes([byte]))\n    time.sleep(0.005)`)
    const { result } = await runTool({ command })
    expect(result.stdout).toBe(text)
  })

  it('fault 64: characters across the borders of large chunks are whole', async () => {
    // 3 bytes a character never divide 64 KiB, so every chunk ends within one.
    const command = python("sys.stdout.buffer.write('€'.encode() * 300_000)")
    const { result } = await runTool({ command })
    expect(result.stdout === '€'.repeat(300_000)).toBe(true)
  })

  const cut = async (text: string, outputBytes: number) => {
    const command = python(`sys.stdout.buffer.write('${text}'.encode())`)
    const { status, result } = await runTool({ command }, { limits: { outputBytes } })
    expect([status, result.truncated]).toEqual(['SUCCESS', true])
    return result.stdout.split('\n[stdout cut:')[0]
  }

  it.each([
    ['a two-byte character', 'abcdé', 5, 'abcd'],
    ['a three-byte character, one byte in', 'abc€', 4, 'abc'],
    ['a three-byte character, two bytes in', 'abc€', 5, 'abc'],
    ['a four-byte character, one byte in', 'ab😀', 3, 'ab'],
    ['a four-byte character, three bytes in', 'ab😀', 5, 'ab'],
  ])('fault 64: the cap within %s leaves the character out', async (_, text, bytes, kept) => {
    expect(await cut(text, bytes)).toBe(kept)
  })

  it('fault 64: the cap between two characters takes nothing away', async () => {
    expect(await cut('ab€😀', 5)).toBe('ab€')
    expect(await cut('ab😀x', 6)).toBe('ab😀')
  })

  it('fault 64: invalid UTF-8 becomes U+FFFD as the standard defines, and NUL stays', async () => {
    const bytes = [0x61, 0xff, 0x62, 0xc3, 0x28, 0xe2, 0x82, 0x63, 0x00, 0x80, 0xed, 0xa0, 0x80, 0x64]
    const command = python(`sys.stdout.buffer.write(bytes(${JSON.stringify(bytes)}))`)
    const { status, result } = await runTool({ command })
    expect(status).toBe('SUCCESS')
    expect(result.stdout).toBe(new TextDecoder().decode(Uint8Array.from(bytes)))
    expect(result.stdout).toBe('a\ufffdb\ufffd(\ufffdc\0\ufffd\ufffd\ufffd\ufffdd')
  })

  it('fault 64: a cap within binary output keeps the bytes before it', async () => {
    const command = python(`sys.stdout.buffer.write(bytes([0x80] * 20))`)
    const { result } = await runTool({ command }, { limits: { outputBytes: 10 } })
    expect(result.stdout.split('\n')[0]).toBe('\ufffd'.repeat(10))
  })
})
