import { expect, it } from 'vitest'
import type { TooldexError } from '../base/errors.ts'
import { isOutOfConnections, toStorageError } from './failures.ts'

const failed = (code: string, message = 'as the database says it') => Object.assign(new Error(message), { code })
const messageOf = (thrown: Error) =>
  (toStorageError(new Error('Failed query', { cause: thrown })) as TooldexError).message

it('reports that the database does not answer only where it does not', () => {
  for (const code of ['ECONNREFUSED', 'ETIMEDOUT', 'CONNECTION_CLOSED', '08006'])
    expect(messageOf(failed(code)), code).toBe('The database does not answer.')
  const others = ['53300', '53400', '53100', '53200', '58030', '25006', '55P03', '57014', '57P01', '57P03']
  const messages = others.map((code) => messageOf(failed(code)))
  expect(new Set(messages).size).toBe(others.length)
  for (const message of messages) expect(message).not.toContain('answer')
})

it('reports the words of a connection pooler that refuses', () => {
  const full = failed('08P01', 'no more connections allowed (max_client_conn)')
  expect(messageOf(full)).toBe(
    'The connection pooler of the database rejected the connection: no more connections allowed (max_client_conn).',
  )
  expect(messageOf(failed('XX000', 'MaxClientsInSessionMode: max clients reached'))).toContain('max clients reached')
  expect(toStorageError(failed('XX000', 'cache lookup failed'))).toMatchObject({ code: 'XX000' })
})

it('waits for a connection only where none was to be had', () => {
  const waits = ['53300', '08P01', '53100', '55P03', 'ECONNREFUSED'].filter((code) => isOutOfConnections({ code }))
  expect(waits).toEqual(['53300', '08P01'])
})
