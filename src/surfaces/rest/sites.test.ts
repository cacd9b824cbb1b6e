import { describe, expect, it } from 'vitest'
import { TooldexError } from '../../base/errors.ts'
import { addressOf, FailedKeys } from './authenticate.ts'
import { checkHostAndOrigin, clientAddress, readHostList, readTrustedProxies } from './check-host.ts'

describe('the site that a request is for', () => {
  const allowed = readHostList(' tools.example.org, *.corp.test,, ')
  const isRefused = (host: string, origin?: string, names = allowed) => {
    try {
      checkHostAndOrigin({ host, origin }, names)
      return false
    } catch (error) {
      expect(error).toMatchObject({ code: 'FORBIDDEN', hint: expect.stringContaining('TOOLDEX_ALLOWED_HOSTS') })
      return true
    }
  }

  it.each([
    '127.0.0.1:7331',
    '[::1]:7331',
    '10.1.2.3',
    'localhost',
    'LOCALHOST:80',
    'a.localhost',
    'tools.example.org',
    'x.corp.test:1',
  ])('may be %s', (host) => expect(isRefused(host)).toBe(false))

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'corp.test',
    'evilcorp.test',
    'a@b',
    '',
    'x y',
  ])('may not be %j', (host) => expect(isRefused(host)).toBe(true))

  it.each(['https://tools.example.org', 'tools.example.org:7331', 'a b', 'x.*.org'])('is not listed as %s', (name) =>
    expect(() => readHostList(`localhost,${name}`)).toThrow(expect.objectContaining({ code: 'USAGE' })),
  )

  it('may be any where the operator allows it', () => expect(isRefused('evil.example', undefined, ['*'])).toBe(false))

  it.each([
    ['http://localhost:7331', false],
    ['https://tools.example.org', false],
    ['http://localhost:8080', true],
    ['https://evil.example', true],
    ['null', true],
    ['', true],
    ['file://localhost:7331', true],
    ['chrome-extension://tools.example.org', true],
    ['http://localhost:7331@evil.example', true],
  ])('accepts requests of its own pages only: %s', (origin, refused) => {
    expect(isRefused('localhost:7331', origin)).toBe(refused)
    expect(isRefused('localhost:7331', origin, ['*', ...allowed])).toBe(refused)
  })
})

describe('the address of a client', () => {
  const trusted = readTrustedProxies('10.0.0.0/8, 192.168.1.1, fd00::/8')

  it.each([
    ['203.0.113.9', '1.1.1.1', '203.0.113.9'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.0.0.1', '1.1.1.1, 203.0.113.9, 192.168.1.1', '203.0.113.9'],
    ['fd00::1', '2001:db8::1', '2001:db8::1'],
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', 'x, 10.0.0.2', '10.0.0.2'],
  ])('is taken from trusted proxies: %s for %s is %s', (remote, forwarded, client) => {
    expect(clientAddress(remote, forwarded, trusted)).toBe(client)
  })

  it.each(['proxy.example', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/'])('is not read from a proxy like %s', (text) => {
    expect(() => readTrustedProxies(text)).toThrow(expect.objectContaining({ code: 'USAGE' }))
  })
})

describe('wrong keys', () => {
  const wrong = new TooldexError('UNAUTHORIZED', 'The key is unknown.')
  const codes = (count: number, address: (at: number) => string, prefix: (at: number) => string) => {
    const failed = new FailedKeys()
    const refuse = (at: number) => failed.refuse(wrong, [addressOf(address(at)), prefix(at)], 1000)
    return Array.from({ length: count }, (_, at) => refuse(at).code)
  }

  it('are limited by address, and by how they begin', () => {
    const name = (at: number) => `n${at}`
    const expected = [...Array(20).fill('UNAUTHORIZED'), 'TOO_BUSY']
    expect(codes(21, () => 'one', name)).toEqual(expected)
    expect(codes(21, name, () => 'tdx_same')).toEqual(expected)
    expect(codes(21, name, name)).toEqual(Array(21).fill('UNAUTHORIZED'))
  })

  it('are limited for the whole network that one client of IPv6 has', () => {
    const name = (at: number) => `n${at}`
    const expected = [...Array(20).fill('UNAUTHORIZED'), 'TOO_BUSY']
    expect(codes(21, (at) => `2001:db8:0:7::${at.toString(16)}`, name)).toEqual(expected)
    expect(codes(21, (at) => (at % 2 === 0 ? `2001:DB8::7:0:0:0:${at}` : `2001:db8:0:7:1:2:3:${at}`), name)).toEqual(
      expected,
    )
    expect(codes(21, (at) => `2001:db8:0:${at}::1`, name)).toEqual(Array(21).fill('UNAUTHORIZED'))
  })

  it('are counted anew after a minute', () => {
    const failed = new FailedKeys()
    for (let count = 0; count < 30; count++) failed.refuse(wrong, ['one'], 1000)
    expect(failed.refuse(wrong, ['one'], 62_000).code).toBe('UNAUTHORIZED')
  })
})
