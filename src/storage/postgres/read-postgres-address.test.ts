import { describe, expect, it } from 'vitest'
import { readPostgresAddress } from './read-postgres-address.ts'

const read = (url: string) => readPostgresAddress(url, {})
const plain = { optional: false, checked: false, named: false }

describe('the address of a database', () => {
  it('is one host or several, each with its port', () => {
    expect(read('postgres://h/db').places).toEqual([{ host: 'h', port: 5432 }])
    expect(read('postgres://u:p@h:1,[::1]:2,k/db').places).toEqual([
      { host: 'h', port: 1 },
      { host: '::1', port: 2 },
      { host: 'k', port: 5432 },
    ])
    expect(read('postgres:///db').places).toEqual([{ host: 'localhost', port: 5432 }])
    expect(readPostgresAddress('postgres:///db', { PGHOST: 'h', PGPORT: '7' }).places).toEqual([{ host: 'h', port: 7 }])
  })

  it('is a socket where the host is a folder', () => {
    const socket = [{ path: '/run/pg/.s.PGSQL.5433' }]
    expect(read('postgres:///db?host=/run/pg&port=5433').places).toEqual(socket)
    expect(read('postgres://u@%2Frun%2Fpg:5433/db').places).toEqual(socket)
    expect(read('postgres://u@:5433/db?host=/run/pg').places).toEqual(socket)
  })

  it('returns the TLS mode of the connection', () => {
    const of = (query: string) => read(`postgres://h/db?${query}`).tls
    expect(of('')).toBeUndefined()
    expect(of('sslmode=disable')).toBeUndefined()
    expect(of('sslmode=require')).toEqual(plain)
    expect(of('sslmode=prefer')).toEqual({ ...plain, optional: true })
    expect(of('sslmode=verify-ca')).toEqual({ ...plain, checked: true })
    expect(of('sslmode=verify-full')).toEqual({ ...plain, checked: true, named: true })
    expect(of('sslmode=require&sslrootcert=system')).toEqual({ ...plain, checked: true, named: true })
  })

  it('leaves the rest to the driver, and has a name without a password', () => {
    const { rest, name } = read('postgresql://u:p%40@a:1,b:2/db?sslmode=require&search_path=x')
    expect(rest).toBe('postgres://u:p%40@localhost/db?search_path=x')
    expect(name).toBe('a:1,b:2/db')
    const { rest: both, anyPlace } = read('postgres://a,b/db?target_session_attrs=primary')
    expect([anyPlace, both]).toEqual([false, 'postgres://localhost,localhost/db?target_session_attrs=primary'])
  })

  it.each([
    'postgres://h:0/db',
    'postgres://h:x/db',
    'postgres://h:99999/db',
    'postgres://a,,b/db',
    'postgres://u:%zz@h/db',
    'postgres://%zz/db',
    'postgres://u:p#@h/db',
    'postgres://h/db?sslmode=never',
    'postgres://h/db?sslrootcert=/nowhere/ca.crt&sslmode=verify-full',
  ])('is refused where it cannot be meant: %s', (url) => {
    expect(() => read(url)).toThrow(/DATABASE_URL/)
  })
})
