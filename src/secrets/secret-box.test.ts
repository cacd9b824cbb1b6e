import { expect, it } from 'vitest'
import { createSecretBox } from './index.ts'

const box = () => createSecretBox({ read: () => 'a passphrase of some length' })

it('opens a value only for the purpose that it was sealed for', () => {
  const { seal, open } = box()
  expect(open(seal('value'))).toBe('value')
  expect(open(seal('value', 'session'), 'session')).toBe('value')
  for (const [sealed, purpose] of [
    [seal('value'), 'session'],
    [seal('value', 'session'), undefined],
    [seal('value', 'session'), 'other'],
  ] as const)
    expect(() => open(sealed, purpose)).toThrow('cannot be decrypted')
})

it('prepares the key that the first use would derive', async () => {
  const prepared = box()
  await prepared.prepare()
  expect(box().open(prepared.seal('value'))).toBe('value')
  const without = createSecretBox({ read: () => undefined })
  await without.prepare()
  expect(() => without.seal('value')).toThrow('no key')
})
