// The three tools in the types of four SDKs. `npm run examples:check` installs them and runs the compiler; nothing is sent.
import type Anthropic from '@anthropic-ai/sdk'
import { tool } from '@langchain/core/tools'
import { generateText, type LanguageModel } from 'ai'
import type OpenAI from 'openai'
import { createTooldex } from 'tooldex'

const tooldex = await createTooldex({ configs: ['git'] })

/** Vercel AI SDK: the tools are passed as they are. */
export const withAiSdk = (model: LanguageModel, prompt: string) =>
  generateText({ model, prompt, tools: tooldex.forAiSdk() })

/** LangChain.js: each pair is the arguments of `tool`. */
export const withLangChain = () => tooldex.forLangChain().map(([run, fields]) => tool(run, fields))

/** OpenAI, Chat Completions. */
export async function withOpenAi(client: OpenAI, messages: OpenAI.ChatCompletionMessageParam[]) {
  const { tools, call } = tooldex.forOpenAi()
  const completion = await client.chat.completions.create({ model: 'any', messages, tools })
  const message = completion.choices[0]?.message
  if (message === undefined) return messages
  const calls = (message.tool_calls ?? []).filter((each) => each.type === 'function')
  return [...messages, message, ...(await Promise.all(calls.map((each) => call(each))))]
}

/** OpenAI, Responses. */
export async function withOpenAiResponses(client: OpenAI, input: OpenAI.Responses.ResponseInput) {
  const { tools, call } = tooldex.forOpenAiResponses()
  const response = await client.responses.create({ model: 'any', input, tools })
  const calls = response.output.filter((item) => item.type === 'function_call')
  const outputs: OpenAI.Responses.ResponseInputItem[] = await Promise.all(calls.map((each) => call(each)))
  return [...input, ...calls, ...outputs]
}

/** Anthropic, Messages. */
export async function withAnthropic(client: Anthropic, messages: Anthropic.MessageParam[]) {
  const { tools, call } = tooldex.forAnthropic()
  const message = await client.messages.create({ model: 'any', max_tokens: 1000, messages, tools })
  const uses = message.content.filter((block) => block.type === 'tool_use')
  const content: Anthropic.ToolResultBlockParam[] = await Promise.all(uses.map((use) => call(use)))
  const turn: Anthropic.MessageParam[] = [
    { role: message.role, content: message.content },
    { role: 'user', content },
  ]
  return [...messages, ...turn]
}
