import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createLineReader, findId } from './serve-stdio.ts'

async function pass(chunks: readonly string[], most = 10) {
  const dropped: string[] = []
  const lines = createLineReader(most, (head, tail) => dropped.push(`${head.slice(0, 3)}..${tail.slice(-3).trimEnd()}`))
  const passed: string[] = []
  lines.on('data', (line: Buffer) => passed.push(line.toString()))
  for (const chunk of chunks) lines.write(Buffer.from(chunk))
  lines.end()
  await once(lines, 'close')
  return { passed, dropped }
}

describe('createWholeLines', () => {
  it('passes lines on whole, however they come', async () => {
    const whole = { passed: ['one\n', '\n', 'two\n'], dropped: [] }
    expect(await pass(['one\n\ntwo\n'])).toEqual(whole)
    expect(await pass([...'one\n\ntwo\n'])).toEqual(whole)
  })

  it('drops a line that is too long, and only it', async () => {
    const text = 'a\n0123456789x\nb\n'
    const expected = { passed: ['a\n', 'b\n'], dropped: ['012..89x'] }
    expect(await pass([text])).toEqual(expected)
    expect(await pass([...text])).toEqual(expected)
  })

  it('passes the longest that may be, and nothing of one that has not ended', async () => {
    expect(await pass(['123456789\n'])).toEqual({ passed: ['123456789\n'], dropped: [] })
    expect(await pass(['12345', '67890', 'abc'])).toEqual({ passed: [], dropped: [] })
  })
})

describe('large numbers', () => {
  it('are passed on as texts where they would be read as others', async () => {
    const line = '{"id":1,"params":{"ä":[12345678901234567,9007199254740991],"b":"12345678901234567"}}\n'
    const { passed } = await pass([line], 1000)
    expect(passed).toEqual([line.replace('[12345678901234567,', '["12345678901234567",')])
  })
})

describe('findId', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"', '', 7],
    ['{ "method" : "m", "id" : "a\\"b", "params"', '', 'a"b'],
    ['{"method":"tools/call","params":{"id":1,', 'xxx"}},"jsonrpc":"2.0","id":8}\n', 8],
    ['{"method":"m","params":{"id":1,', 'xxx"},"id":9,"jsonrpc":"2.0"}', 9],
    ['{"method":"m","params":{"id":1,', 'xxx","id":9}}', null],
    ['xxxxx', 'xxxxx', null],
  ])('of %s...%s is %j', (head, tail, id) => {
    expect(findId(head, tail)).toBe(id)
  })
})
