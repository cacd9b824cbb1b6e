import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { startFixtures } from './start.mjs'

const { url, key, stop } = await startFixtures()

async function connect(negotiation) {
  const client = new Client(
    { name: 'example', version: '1.0.0' },
    { capabilities: { elicitation: {} }, ...negotiation },
  )
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }))
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp?mode=classic`), { requestInit }))
  return client
}

try {
  for (const negotiation of [{ versionNegotiation: { mode: 'auto' } }, {}]) {
    const client = await connect(negotiation)
    const revision = client.getNegotiatedProtocolVersion()
    const { content } = await client.callTool({ name: 'test_multiple_content_types', arguments: {} })
    assert.deepEqual(
      content.map(({ type }) => type),
      ['text', 'image', 'resource'],
    )
    const { prompts } = await client.listPrompts()
    assert.ok(prompts.some(({ name }) => name === 'test_simple_prompt'))
    const { contents } = await client.readResource({ uri: 'test://template/7/data' })
    assert.equal(JSON.parse(contents[0].text).id, '7')
    const asked = await client.callTool({ name: 'test_input_required_result_elicitation', arguments: {} })
    assert.equal(asked.content[0].text, 'Hello, Ada!')
    await client.close()
    console.log(`${revision}: content, prompts, resources and requests for input are passed through`)
  }
} finally {
  await stop()
}
