import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findSecretReference } from '../../rules/server-definition.ts'
import { loadServers } from './server-settings.ts'

const env = { TOKEN: 'abc', TOOLDEX_API_KEY: 'ours' }

function load(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tooldex-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'servers.json')
  writeFileSync(path, text)
  return loadServers({ path, required: true }, env)
}

const problemsOf = (text: string): unknown => {
  try {
    load(text)
    return []
  } catch (error) {
    return (error as { problems: unknown }).problems
  }
}

describe('loadServers', () => {
  it('reads what clients write, fills in braced variables, and leaves keys of others alone', () => {
    const servers = load(`{
      "mcpServers": {
        "notes": { "command": "notes", "args": ["--token", "\${TOKEN}", "$TOKEN"], "env": { "A": "\${UNSET:-a}" }, "disabledTools": [] },
        "crm": { "type": "http", "url": "https://crm.example/mcp", "headers": { "Authorization": "Bearer secret:crm" } }
      }
    }`)
    expect([...servers.keys()]).toEqual(['notes', 'crm'])
    expect(servers.get('notes')).toEqual({
      type: 'stdio',
      command: 'notes',
      args: ['--token', 'abc', '$TOKEN'],
      env: { A: 'a' },
      connectTimeoutMs: 30_000,
      idleMs: 300_000,
      passThrough: true,
      clientRequests: [],
    })
    expect(servers.get('crm')).toMatchObject({ url: 'https://crm.example/mcp', allowPrivate: false })
  })

  it('is empty without a file and without a path to one', () => {
    expect(loadServers({ path: '/nowhere/servers.json', required: false }, env).size).toBe(0)
    expect(() => loadServers({ path: '/nowhere/servers.json', required: true }, env)).toThrow('does not exist')
  })

  it('suggests the key that was meant', () => {
    expect(problemsOf('{ "mcpServers": { "up": { "comand": "node" }, "no": {} } }')).toMatchObject([
      { message: 'command or url is required', hint: "did you mean 'command' instead of 'comand'?" },
      { message: 'command or url is required' },
    ])
  })

  it('reports all problems at once, with their positions', () => {
    expect(
      problemsOf(`{ "mcpServers": {
  "a": { "command": "a", "env": { "X": "\${UNSET}" } },
  "b": { "url": "ftp://x" },
  "c": { "type": "carrier-pigeon", "url": "https://x" },
  "d": { "command": "d", "args": ["\${TOOLDEX_API_KEY}"] }
} }`),
    ).toMatchObject([
      { line: 2, message: 'the variable UNSET is not set' },
      { line: 3, message: 'url: must be an http or https URL' },
      { line: 4, message: expect.stringContaining('type') },
      { line: 5, message: expect.stringContaining('TOOLDEX_API_KEY belongs to Tooldex') },
    ])
    expect(problemsOf('{ "servers": {} }')).toMatchObject([{ message: 'the file has no mcpServers' }])
    expect(problemsOf('{ "mcpServers": ')).not.toEqual([])
  })
})

describe('findSecretReference', () => {
  it.each([
    ['secret:crm', '', 'secret:crm'],
    ['Bearer env:CRM_TOKEN', 'Bearer ', 'env:CRM_TOKEN'],
    ['file:/run/secrets/crm', '', 'file:/run/secrets/crm'],
  ])('finds the one in %s', (value, before, reference) => {
    expect(findSecretReference(value)).toEqual({ before, reference })
  })

  it.each(['plain', 'Bearer abc', 'the secret:crm', 'https://x'])('takes %s as it is', (value) => {
    expect(findSecretReference(value)).toBeUndefined()
  })
})
