import { expect, it } from 'vitest'
import { readServers } from './read-servers.ts'

it('reads the servers of a client, and keeps variables as references', () => {
  const text = JSON.stringify({
    mcpServers: { 'my files': { command: 'npx', args: ['-y', 'files'], env: { TOKEN: '${FILES_TOKEN}' } }, odd: {} },
  })
  expect(readServers({ name: 'mcp.json', text })).toMatchObject([
    { name: 'my-files', fields: { command: 'npx', args: ['-y', 'files'], env: { TOKEN: 'env:FILES_TOKEN' } } },
    { name: 'odd', skipped: 'it has neither a command nor a URL' },
  ])
})

it('leaves bundles, OpenAPI documents and other texts to the server', () => {
  for (const text of [
    'tools: []',
    '{"tools": []}',
    '{"openapi": "3.1.0", "servers": [{"url": "/"}]}',
    '[1]',
    'null',
    '{',
  ])
    expect(readServers({ name: 'pasted', text })).toBeUndefined()
})
