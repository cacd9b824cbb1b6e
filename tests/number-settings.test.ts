import { describe, expect, it } from 'vitest'
import { readNumberSetting } from '../src/base/number-settings.ts'
import { runCli } from './support/run-cli.ts'
import { tempFolder } from './support/temp-folder.ts'

describe('numbers in the environment', () => {
  it('are read where they are numbers, and nothing is read as unset', () => {
    expect(readNumberSetting({ TOOLDEX_QUEUE_MS: ' 250 ' }, 'TOOLDEX_QUEUE_MS')).toBe(250)
    expect(readNumberSetting({ TOOLDEX_RETENTION_DAYS: '0.5' }, 'TOOLDEX_RETENTION_DAYS')).toBe(0.5)
    expect(readNumberSetting({ TOOLDEX_PYTHON_WARM: '0' }, 'TOOLDEX_PYTHON_WARM')).toBe(0)
    for (const text of [undefined, '', '  '])
      expect(readNumberSetting({ TOOLDEX_QUEUE_MS: text }, 'TOOLDEX_QUEUE_MS')).toBeUndefined()
  })

  it.each(['0', '-1', '1x', '1e3', '0x10', '1.5', 'Infinity', '99999999999', 'abc'])('refuse %s as a count', (text) => {
    const read = () => readNumberSetting({ TOOLDEX_QUEUE_LIMIT: text }, 'TOOLDEX_QUEUE_LIMIT')
    expect(read).toThrow(`TOOLDEX_QUEUE_LIMIT is "${text}"; it must be an integer from 1 to 2147483647.`)
  })

  it.each([
    ['serve', 'TOOLDEX_RETENTION_ROWS', 'abc'],
    ['serve', 'TOOLDEX_PYTHON_WARM', 'many'],
    ['worker', 'TOOLDEX_QUEUE_MS', '-1'],
    ['worker', 'TOOLDEX_INLINE_BYTES', '1x'],
    ['worker', 'TOOLDEX_MAX_MEMORY_MB', '2GB'],
  ])('keep a %s from starting where %s is %s', async (command, name, value) => {
    const env = { TOOLDEX_HOME: tempFolder(), DATABASE_URL: '', [name]: value }
    const words = command === 'serve' ? ['serve', '--port', '0'] : ['worker']
    const { code, stderr } = await runCli(words, { env })
    expect(code, stderr).toBe(2)
    expect(stderr).toContain(`${name} is "${value}"; it must be an integer from `)
  })
})
