// What the server of the pictures has: calls, an approval, a server with a changed definition, rules, keys.
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Fills a server over its REST API; resolves to the ids that pages need. */
export async function fillServer(origin, key, folder) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const send = async (method, path, body) => {
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${origin}/api/v1${path}`, init)
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const run = (tool, input) => send('POST', `/tools/${tool}/execute`, { input, wait: true })
  for (const text of 'one two three four five'.split(' ')) await run('text_statistics', { text })
  const other = await run('text_statistics', { text: 'A lazy dog sleeps. A fox runs.', top: 3 })
  const { id } = await run('text_statistics', { text: 'The quick brown fox jumps over the lazy dog.', top: 3 })
  const failed = await run('folder_sizes', { path: '/nowhere' })
  await send('PATCH', '/tools/text_statistics', {
    description: 'Counts lines, words and sentences of a text, and lists its most frequent words.',
    tags: ['python', 'text', 'reports'],
  })
  await addRules(send)
  await send('POST', '/tools/folder_sizes/execute', { input: { path: '/var/log' } })
  await addChangingServer(send, folder)
  await send('PUT', '/secrets/MAIL_TOKEN', { value: 'an example' })
  await send('POST', '/keys', { name: 'reporting', scopes: ['read', 'call'] })
  await send('POST', '/keys', { name: 'agent-ci', scopes: ['call'] })
  return { run: id, other: other.id, failed: failed.id }
}

async function addRules(send) {
  await send('PUT', '/policies/careful', {
    default: 'enabled',
    tools: { folder_sizes: { requireApproval: true }, text_statistics: { args: { top: { max: 20 } } } },
  })
  await send('PUT', '/toolsets/writing', { description: 'Tools for texts.', filter: { tags: ['text'] } })
  await send('PUT', '/limits/reports', { tool: 'text_statistics', callsPerMinute: 60, callsPerDay: 2000 })
}

/** An MCP server whose definitions changed after they were accepted. */
async function addChangingServer(send, folder) {
  const file = join(folder, 'definitions.json')
  const define = (description, type) => {
    const inputSchema = { type: 'object', properties: { path: { type, description: 'Path of the note' } } }
    const other = { type: 'object', properties: { text: { type: 'string', description: 'Text to look for' } } }
    const tools = [
      { name: 'read_note', description, inputSchema },
      { name: 'search_notes', description: 'Finds notes that contain a text.', inputSchema: other },
    ]
    writeFileSync(file, JSON.stringify({ tools }))
  }
  define('Reads a note.', 'string')
  // The pictures show the command.
  const program = join(folder, 'notes-server.mjs')
  copyFileSync(join(import.meta.dirname, '../../tests/upstreams/changing-server.mjs'), program)
  const args = [program, file]
  const { approval } = await send('POST', '/sources', { name: 'notes', command: process.execPath, args })
  await send('POST', '/sources/notes/approve', { hash: approval.hash })
  define('Reads a note, or a number of them.', 'array')
  await send('POST', '/sources/notes/refresh')
  await send('POST', '/sources', { name: 'mail', command: 'mail-server', args: ['--inbox', 'team'] })
}
