// Runs the three tools through every binding, without a model and without the SDKs.
import assert from 'node:assert/strict'
import { createTooldex, defineTool } from '../../dist/index.js'

const add = defineTool({
  name: 'add_numbers',
  description: 'Adds two numbers.',
  input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  run: ({ a, b }) => a + b,
})
const tooldex = await createTooldex({ functions: [add] })
try {
  const args = { name: 'add_numbers', arguments: { a: 2, b: 3 } }
  const text = JSON.stringify(args)
  const names = ['search_tools', 'describe_tool', 'call_tool']

  const sdk = tooldex.forAiSdk()
  assert.deepEqual(Object.keys(sdk), names)
  assert.match(await sdk.search_tools.execute({ query: 'sum of numbers' }, {}), /add_numbers/)
  assert.equal(await sdk.call_tool.execute(args, {}), '5')

  const [[search]] = tooldex.forLangChain()
  assert.match(await search({ query: 'sum of numbers' }), /add_numbers/)

  const chat = await tooldex.forOpenAi().call({ id: 'c1', function: { name: 'call_tool', arguments: text } })
  assert.deepEqual(chat, { role: 'tool', tool_call_id: 'c1', content: '5' })
  const response = await tooldex.forOpenAiResponses().call({ call_id: 'c2', name: 'call_tool', arguments: text })
  assert.deepEqual(response, { type: 'function_call_output', call_id: 'c2', output: '5' })

  const { tools, call } = tooldex.forAnthropic()
  assert.deepEqual(
    tools.map(({ name }) => name),
    names,
  )
  const result = await call({ id: 'c3', name: 'call_tool', input: args })
  assert.deepEqual(result, { type: 'tool_result', tool_use_id: 'c3', content: '5', is_error: false })
  const wrong = await call({ id: 'c4', name: 'call_tool', input: { name: 'add_numbers', arguments: { a: 'x' } } })
  assert.equal(wrong.is_error, true)
  assert.equal((await call({ id: 'c5', name: 'call_tool', input: '{' })).is_error, true)
  assert.equal((await call({ id: 'c6', name: 'add_numbers', input: {} })).is_error, true)
} finally {
  await tooldex.close()
}
