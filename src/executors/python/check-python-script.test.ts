import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { needs } from '../../../tests/support/needs.ts'
import { findPython } from '../process/find-python.ts'
import { checkPythonScript } from './check-python-script.ts'

const it = needs(findPython() !== undefined, 'no python3')
const texts = async (source: string) => (await checkPythonScript(source)).map(({ message }) => message)

describe('checkPythonScript', () => {
  it('takes a main for one argument', async () => {
    for (const main of [
      'def main(a): pass',
      'async def main(a): return a',
      'def main(a, b=1, *, c=2): pass',
      'def main(*rest): pass',
      'def main(a=None, /): pass',
      'import x\n@x.wrap\ndef main(a, b): pass',
      'def main(): pass\ndef main(a): pass',
      '# é 😀\ndef main(a):\n    return "\\d"',
    ])
      expect([main, await texts(main)]).toEqual([main, []])
  })

  it('refuses another one', async () => {
    for (const main of ['def main(): pass', 'def main(a, b): pass', 'def main(*, a): pass', 'def main(a, *, b): pass'])
      expect([main, await texts(main)]).toEqual([main, ['main must take exactly one positional argument']])
    expect(await checkPythonScript('x = 1\n\n  \ndef main(): pass')).toMatchObject([{ line: 4, column: 1 }])
  })

  it('misses a main that is not there, or not at the top level', async () => {
    expect(await texts('def mian(a): pass')).toEqual([
      "the script defines no function 'main' at its top level. Did you mean 'mian'?",
    ])
    expect(await texts('class A:\n  def main(self): pass')).toHaveLength(1)
    expect(await texts('main = 1')).toHaveLength(1)
    expect(await texts(' \n')).toEqual(['the script is empty'])
  })

  it('reports line and column of a syntax error', async () => {
    const [problem] = await checkPythonScript('def main(a):\n    return (1 +\n')
    expect(problem).toMatchObject({ severity: 'error', line: 2, column: 12 })
    expect(problem?.message).toContain('not valid Python')
    expect(await checkPythonScript('def main(a): pass\nreturn 1')).toMatchObject([{ line: 2, column: 1 }])
    expect(await checkPythonScript('def main(a):\n\tif a:\n        pass\n')).toMatchObject([{ line: 3 }])
  })

  it('runs nothing of it', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'tooldex-script-')), 'ran')
    await checkPythonScript(`open(${JSON.stringify(file)}, 'w')\ndef main(a): pass`)
    expect(existsSync(file)).toBe(false)
  })

  it('outlives what could crash it', async () => {
    for (const [source, words] of [
      [`x = ${'('.repeat(1000)}${')'.repeat(1000)}\ndef main(a): pass`, ''],
      [`x = ${'-'.repeat(100_000)}1\ndef main(a): pass`, ''],
      [`x = ${'a.'.repeat(200_000)}b\ndef main(a): pass`, ''],
      ['def main(a): pass\0', 'U+0000'],
      ['def main(a): "\ud800"', 'lone surrogate'],
      ['#'.repeat(1_000_001), 'more than 1000000 characters'],
      ['# -*- coding: nonsense -*-\ndef main(a): return 1 +', 'not valid Python'],
    ] as const) {
      const found = await texts(source)
      expect(found.length).toBe(1)
      expect(found[0]).toContain(words)
    }
  })

  it('names what to install where Python is missing', async () => {
    const [problem] = await checkPythonScript('def main(a): pass', { python: '/nowhere/python3' })
    expect(problem?.hint).toContain('install Python')
  })

  it('ends with its deadline, or when it is cancelled', async () => {
    const sleeper = join(mkdtempSync(join(tmpdir(), 'tooldex-script-')), 'python3')
    writeFileSync(sleeper, '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 })
    expect(await checkPythonScript('def main(a): pass', { python: sleeper })).toMatchObject([
      { message: expect.stringContaining('5 seconds') },
    ])
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 50)
    await expect(checkPythonScript('def main(a): pass', { python: sleeper, signal: stop.signal })).rejects.toThrow(
      'cancelled',
    )
  })
})
