// Calls a tool through the real SDKs, with models that answer from a script; nothing is sent. `npm run examples:check` installs and runs it.
import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import { tool } from '@langchain/core/tools'
import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import OpenAI from 'openai'
import { createTooldex, defineTool } from 'tooldex'
import * as z from 'zod'

const add = defineTool({
  name: 'add_numbers',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
})
const args = { name: 'add_numbers', arguments: { a: 2, b: 3 } }
const tooldex = await createTooldex({ functions: [add] })
try {
  await withAiSdk()
  await withLangChain()
  await withOpenAi()
  await withAnthropic()
} finally {
  await tooldex.close()
}

async function withAiSdk() {
  const content = [{ type: 'tool-call', toolCallId: 'c1', toolName: 'call_tool', input: JSON.stringify(args) }]
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  const answers = [
    { finishReason: { unified: 'tool-calls' }, usage, warnings: [], content },
    { finishReason: { unified: 'stop' }, usage, warnings: [], content: [{ type: 'text', text: 'Five.' }] },
  ]
  const model = new MockLanguageModelV3({ doGenerate: async () => answers.shift() })
  const tools = tooldex.forAiSdk()
  const { text, steps } = await generateText({ model, prompt: 'Add 2 and 3.', tools, stopWhen: stepCountIs(3) })
  assert.equal(text, 'Five.')
  assert.equal(steps[0].toolResults[0].output, '5')
}

async function withLangChain() {
  const tools = tooldex.forLangChain().map(([run, fields]) => tool(run, fields))
  const callTool = tools.find(({ name }) => name === 'call_tool')
  assert.equal(await callTool.invoke(args), '5')
  const message = await callTool.invoke({ type: 'tool_call', id: 'c1', name: 'call_tool', args })
  assert.deepEqual([message.content, message.tool_call_id], ['5', 'c1'])
}

async function withOpenAi() {
  const asked = { id: 'c1', type: 'function', function: { name: 'call_tool', arguments: JSON.stringify(args) } }
  const answer = { choices: [{ message: { role: 'assistant', tool_calls: [asked] } }] }
  const client = new OpenAI({ apiKey: 'none', fetch: async () => Response.json(answer) })
  const { tools, call } = tooldex.forOpenAi()
  const { choices } = await client.chat.completions.create({ model: 'any', messages: [], tools })
  assert.deepEqual(await call(choices[0].message.tool_calls[0]), { role: 'tool', tool_call_id: 'c1', content: '5' })
}

async function withAnthropic() {
  const answer = { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'call_tool', input: args }] }
  const client = new Anthropic({ apiKey: 'none', fetch: async () => Response.json(answer) })
  const { tools, call } = tooldex.forAnthropic()
  const { content } = await client.messages.create({ model: 'any', max_tokens: 100, messages: [], tools })
  const result = await call(content[0])
  assert.deepEqual(result, { type: 'tool_result', tool_use_id: 'c1', content: '5', is_error: false })
}
