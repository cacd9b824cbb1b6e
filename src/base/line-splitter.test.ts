import { expect, it } from 'vitest'
import { LineSplitter } from './line-splitter.ts'

function split(chunks: readonly (string | Uint8Array)[], maxBytes?: number): readonly string[] {
  const seen: string[] = []
  const lines = new LineSplitter({
    ...(maxBytes === undefined ? {} : { maxBytes }),
    onLine: (line) => seen.push(line.toString()),
    onTooLong: () => seen.push('too long'),
    onDropped: (head, tail) => seen.push(`dropped ${head} ${tail}`),
  })
  for (const chunk of chunks) lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  lines.end()
  return seen
}

it('joins the parts of lines and of characters', () => {
  const bytes = new TextEncoder().encode('é\u2028\n')
  expect(split(['a\n\nb', 'c\n', bytes.subarray(0, 1), bytes.subarray(1), 'last'])).toEqual([
    'a',
    '',
    'bc',
    'é\u2028',
    'last',
  ])
})

it('drops a line beyond the limit while it arrives, and reads the next one', () => {
  expect(split(['12345', '6789\nshort\n1', '2345678'], 6)).toEqual([
    'too long',
    'dropped 123456789 123456789',
    'short',
    'too long',
    'dropped 12345678 12345678',
  ])
  const long = `${'a'.repeat(3000)}${'b'.repeat(3000)}`
  expect(split([...long, '\n'], 10)).toEqual(['too long', `dropped ${'a'.repeat(11)} ${'b'.repeat(1024)}`])
})
