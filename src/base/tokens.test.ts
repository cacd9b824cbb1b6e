import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
import { expect, it } from 'vitest'
import { loadTokenCounter } from './tokens.ts'

const oracle = (text: string) => countTokens(text, { disallowedSpecial: new Set() })

it('counts real texts as the reference tokenizer does', async () => {
  const count = await loadTokenCounter()
  const folder = join(import.meta.dirname, '..', '..', 'docs', 'guides')
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  expect(texts.length).toBeGreaterThan(5)
  for (const text of texts) expect(count(text)).toBe(oracle(text))
})

it('counts any text as the reference tokenizer does', async () => {
  const count = await loadTokenCounter()
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(
      "It'S",
      ' ',
      '\t\n',
      '\r\n\r\n',
      '   ',
      '<|endoftext|>',
      '<|im_start|>',
      '<|no|>',
      '\ud800',
      'ſ',
      'K',
    ),
    fc.constantFrom(
      '12345',
      'Straße',
      '機械学習',
      '🧑‍🚀',
      'don’t',
      "we'LL",
      '{"a": [1, 2]}',
      'antidisestablishmentarianism',
    ),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => count(pieces.join('')) === oracle(pieces.join(''))),
    { numRuns: 2000 },
  )
})

it('counts one long word', async () => {
  const count = await loadTokenCounter()
  const word = Array.from({ length: 3000 }, (_, at) => 'abcdefghij'[(at * at) % 10]).join('')
  expect(count(word)).toBe(oracle(word))
  // A word of this length took the reference tokenizer minutes.
  expect(count('xyzw'.repeat(50_000))).toBeGreaterThan(50_000)
})

it('estimates long texts from parts of them', async () => {
  const count = await loadTokenCounter()
  const folder = join(import.meta.dirname, '..', '..', 'docs', 'guides')
  const guides = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  const long = guides.join('').repeat(3)
  expect(long.length).toBeGreaterThan(200_000)
  const exact = 3 * oracle(guides.join(''))
  expect(Math.abs(count(long) - exact) / exact).toBeLessThan(0.05)
  expect(count(' '.repeat(1_000_000))).toBeGreaterThan(1000)
})
