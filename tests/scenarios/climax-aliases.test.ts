import { describe, expect, it } from 'vitest'
import { connect } from '../support/connect.ts'
import { tempConfig } from '../support/temp-config.ts'

const yaml = `
name: notes
description: Keep notes
command: echo
category: productivity
tags: [text]
env: { NOTES_TOKEN: s3cret-value-1 }
tools:
  - name: note_add
    description: Add a note
    args: [{ name: text, positional: true, required: true }, { name: api_key }]
`

describe('the tools of CLImax', () => {
  it('are answered without being listed, and each call is logged on request', async () => {
    const file = tempConfig('notes.yaml', yaml)
    const { client, stderr } = await connect(['--log-level', 'INFO', file])
    const names = (await client.listTools()).tools.map(({ name }) => name)
    expect(names).toEqual(['search_tools', 'describe_tool', 'call_tool'])
    const ask = async (name: string, args: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: args })
      return { text: (content as { text: string }[])[0]?.text ?? '', isError }
    }
    expect(JSON.parse((await ask('climax_search', {})).text)).toEqual({
      mode: 'summary',
      summary: [{ name: 'notes', description: 'Keep notes', tool_count: 1, category: 'productivity', tags: ['text'] }],
    })
    expect(JSON.parse((await ask('climax_search', { query: 'note', limit: '5' })).text)).toEqual({
      mode: 'search',
      results: [
        {
          tool_name: 'note_add',
          description: 'Add a note',
          cli_name: 'notes',
          category: 'productivity',
          tags: ['text'],
          input_schema: {
            type: 'object',
            properties: { text: { type: 'string' }, api_key: { type: 'string' } },
            required: ['text'],
          },
        },
      ],
    })
    expect(JSON.parse((await ask('climax_search', { query: '', limit: -1 })).text)).toEqual({
      mode: 'search',
      results: [],
    })
    const args = { text: 'hello s3cret-value-1', api_key: 'k-123' }
    expect((await ask('climax_call', { tool_name: 'note_add', args })).text).toContain('hello [redacted NOTES_TOKEN]')
    expect(await ask('climax_call', { tool_name: 'note_ad', args: {} })).toMatchObject({ isError: true })
    const lines = stderr()
      .split('\n')
      .filter((line) => line.includes(' INFO call '))
    expect(lines).toHaveLength(1)
    const argv = JSON.stringify(JSON.stringify(['echo', 'hello [redacted NOTES_TOKEN]', '--api-key', '[redacted]']))
    expect(lines[0]).toContain(`call tool="note_add" argv=${argv} status="SUCCESS" exit=0 ms=`)
  })

  it('are listed where they are pinned, and no call is logged unless asked for', async () => {
    const file = tempConfig('notes.yaml', yaml)
    const { client, stderr } = await connect(['--pin', 'climax_search', '--pin', 'climax_call', file])
    const names = (await client.listTools()).tools.map(({ name }) => name)
    expect(names).toEqual(['search_tools', 'describe_tool', 'call_tool', 'climax_search', 'climax_call'])
    await client.callTool({ name: 'climax_call', arguments: { tool_name: 'note_add', args: { text: 'x' } } })
    expect(stderr()).toBe('')
  })
})
