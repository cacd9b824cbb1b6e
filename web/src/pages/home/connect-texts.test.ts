import { expect, it } from 'vitest'
import { clientNames } from '../../../../src/operations/clients/client-files.ts'
import { connectionsTo } from './connect-texts.ts'

it('has a connection for every client of tooldex install, with the URL and the key', () => {
  const connections = connectionsTo('http://127.0.0.1:7331', 'tdx_key')
  expect(connections.map(({ id }) => id).sort()).toEqual([...clientNames].sort())
  for (const { id, command, entry } of connections) {
    expect(command).toContain('export TOOLDEX_API_KEY=tdx_key')
    expect(command).toContain(`tooldex install ${id}`)
    expect(entry).toContain('http://127.0.0.1:7331')
    if (id !== 'codex') expect(JSON.stringify(JSON.parse(entry))).toContain('tdx_key')
  }
})
