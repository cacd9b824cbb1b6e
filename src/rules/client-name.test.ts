import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toClientName } from './tool-id.ts'

describe('toClientName', () => {
  it('keeps a name that every client accepts', () => {
    for (const name of ['git_status', 'a', 'docker-ps', 'X9', 'n'.repeat(50)]) expect(toClientName(name)).toBe(name)
  })

  it('gives any other name a short one of the characters that clients accept', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), (name) => {
        expect(toClientName(name)).toMatch(/^[A-Za-z0-9_-]{1,50}$/)
      }),
    )
  })

  it('returns the same name every time, and leaves a valid name unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
        expect(toClientName(name)).toBe(toClientName(name))
        expect(toClientName(toClientName(name))).toBe(toClientName(name))
      }),
    )
    // Written down, because clients remember it: it must not change between versions.
    expect(toClientName('weather/lookup')).toBe('weather_lookup_70436b09')
  })

  it('keeps apart names that look alike once shortened', () => {
    const names = ['a.b', 'a/b', 'a b', 'a:b', 'ä', 'ö', `${'x'.repeat(60)}1`, `${'x'.repeat(60)}2`]
    expect(new Set(names.map(toClientName)).size).toBe(names.length)
  })

  it('stays readable', () => {
    expect(toClientName('server.read file')).toMatch(/^server_read_file_[0-9a-f]{8}$/)
    expect(toClientName('very_'.repeat(20))).toMatch(/^very_very_.*_[0-9a-f]{8}$/)
  })
})
