import type * as z from 'zod'
import type { JsonSchema } from '../../contract/tool-index.ts'

/** One of the three tools of agents, as MCP lists it. */
interface AgentTool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: JsonSchema
  /** The same as a schema of zod, for the SDK that takes no JSON Schema without a function of its own. */
  readonly input: z.ZodType<Record<string, unknown>>
}

/** The answer to a model: text, and whether the call failed. */
export interface AgentAnswer {
  readonly text: string
  readonly isError: boolean
}

/** The three tools, and the function that runs them; a failure is an answer, never an exception. */
export interface AgentTools {
  readonly tools: readonly AgentTool[]
  readonly run: (name: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal) => Promise<AgentAnswer>
}

/** A tool of the Vercel AI SDK. */
export interface AiSdkTool {
  readonly description: string
  readonly inputSchema: z.ZodType<Record<string, unknown>>
  readonly execute: (
    input: Record<string, unknown>,
    options: { readonly abortSignal?: AbortSignal | undefined },
  ) => Promise<string>
}

/** The arguments of `tool()` of LangChain.js. */
export type LangChainTool = [
  run: (
    input: Record<string, unknown>,
    config?: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<string>,
  fields: { readonly name: string; readonly description: string; readonly schema: JsonSchema },
]

/** The three tools in the shapes of SDKs, none of which is a dependency. */
export interface SdkBindings {
  /** Tools by name, for `generateText({ tools })` of the Vercel AI SDK. */
  forAiSdk(): Record<string, AiSdkTool>
  /** The arguments of `tool(...)` of LangChain.js, one pair for each tool. */
  forLangChain(): LangChainTool[]
  /** Tools of the Chat Completions API, and the answer to one of its tool calls. */
  forOpenAi(): {
    readonly tools: OpenAiTool[]
    call(call: OpenAiToolCall, options?: CallSignal): Promise<OpenAiToolMessage>
  }
  /** Tools of the Responses API, and the answer to one of its function calls. */
  forOpenAiResponses(): {
    readonly tools: OpenAiResponsesTool[]
    call(call: OpenAiFunctionCall, options?: CallSignal): Promise<OpenAiFunctionOutput>
  }
  /** Tools of the Messages API, and the answer to one of its `tool_use` blocks. */
  forAnthropic(): {
    readonly tools: AnthropicTool[]
    call(use: AnthropicToolUse, options?: CallSignal): Promise<AnthropicToolResult>
  }
}

interface CallSignal {
  readonly signal?: AbortSignal | undefined
}
interface OpenAiTool {
  type: 'function'
  function: { name: string; description: string; parameters: Record<string, unknown> }
}
interface OpenAiToolCall {
  readonly id: string
  readonly function?: { readonly name: string; readonly arguments: string }
}
interface OpenAiToolMessage {
  role: 'tool'
  tool_call_id: string
  content: string
}
interface OpenAiResponsesTool {
  type: 'function'
  name: string
  description: string
  parameters: Record<string, unknown>
  strict: false
}
interface OpenAiFunctionCall {
  readonly call_id: string
  readonly name: string
  readonly arguments: string
}
interface OpenAiFunctionOutput {
  type: 'function_call_output'
  call_id: string
  output: string
}
interface AnthropicTool {
  name: string
  description: string
  input_schema: { type: 'object'; [key: string]: unknown }
}
interface AnthropicToolUse {
  readonly id: string
  readonly name: string
  readonly input: unknown
}
interface AnthropicToolResult {
  type: 'tool_result'
  tool_use_id: string
  content: string
  is_error: boolean
}

/** Makes the bindings of the three tools. */
export function createBindings({ tools, run }: AgentTools): SdkBindings {
  const named = tools.map(({ name, description = '', inputSchema: schema, input }) => ({
    name,
    description,
    schema,
    input,
  }))
  const answer = async (name: string, args: unknown, signal: AbortSignal | undefined): Promise<AgentAnswer> => {
    const parsed = readArguments(args)
    return parsed === undefined ? notAnObject : run(name, parsed, signal)
  }
  return {
    forAiSdk: () =>
      Object.fromEntries(
        named.map(({ name, description, input: inputSchema }) => {
          const execute: AiSdkTool['execute'] = async (input, { abortSignal }) =>
            (await answer(name, input, abortSignal)).text
          return [name, { description, inputSchema, execute }]
        }),
      ),
    forLangChain: () =>
      named.map(({ name, description, schema }) => [
        async (input, _config, options) => (await answer(name, input, options?.signal)).text,
        { name, description, schema },
      ]),
    forOpenAi: () => ({
      tools: named.map(({ name, description, schema }) => ({
        type: 'function',
        function: { name, description, parameters: { ...schema } },
      })),
      async call({ id, function: { name = '', arguments: args = '{}' } = {} as never }, { signal } = {}) {
        return { role: 'tool', tool_call_id: id, content: (await answer(name, args, signal)).text }
      },
    }),
    forOpenAiResponses: () => ({
      tools: named.map(({ name, description, schema }) => ({
        type: 'function',
        name,
        description,
        parameters: { ...schema },
        strict: false,
      })),
      async call({ call_id, name, arguments: args }, { signal } = {}) {
        return { type: 'function_call_output', call_id, output: (await answer(name, args, signal)).text }
      },
    }),
    forAnthropic: () => ({
      tools: named.map(({ name, description, schema }) => ({
        name,
        description,
        input_schema: { ...schema, type: 'object' },
      })),
      async call({ id, name, input }, { signal } = {}) {
        const { text, isError } = await answer(name, input, signal)
        return { type: 'tool_result', tool_use_id: id, content: text, is_error: isError }
      },
    }),
  }
}

const notAnObject: AgentAnswer = { text: 'The arguments are not a JSON object. Send one JSON object.', isError: true }

/** The arguments of a model: an object, or its JSON text. */
function readArguments(args: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = typeof args === 'string' ? JSON.parse(args === '' ? '{}' : args) : (args ?? {})
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}
