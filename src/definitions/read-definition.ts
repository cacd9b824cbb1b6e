import { TooldexError } from '../base/errors.ts'
import { isObject } from '../base/json-values.ts'
import { toPointer } from '../base/problem.ts'
import type { LlmFormat, LlmTool, Loss } from '../contract/llm.ts'

type Fields = Readonly<Record<string, unknown>>

/** A tool that was read from the definition of a provider, and what a tool cannot express of it. */
export interface ReadDefinition {
  readonly format: LlmFormat
  readonly tool: LlmTool
  readonly losses: readonly Loss[]
}

/** The key of the input schema in each format, and the other keys that are read. */
const formats: Readonly<Record<LlmFormat, { readonly schema: string; readonly others: readonly string[] }>> = {
  mcp: { schema: 'inputSchema', others: ['title', 'outputSchema', 'annotations', 'icons', '_meta'] },
  openai: { schema: 'parameters', others: [] },
  anthropic: { schema: 'input_schema', others: [] },
  gemini: { schema: 'parameters', others: [] },
}

/** Reads the definition of a tool for MCP, OpenAI, Anthropic or Gemini; the format is recognized by its keys if absent. */
export function readDefinition(definition: unknown, format?: LlmFormat): ReadDefinition {
  if (!isObject(definition)) throw invalid('', 'a definition must be an object')
  const inner = isObject(definition.function) ? definition.function : definition
  const found = format ?? detect(definition, inner)
  const { schema, others } = formats[found]
  const { name, description = '' } = inner
  if (typeof name !== 'string' || name === '') throw invalid('/name', 'name must be a string')
  if (typeof description !== 'string') throw invalid('/description', 'description must be a string')
  const inputSchema = inner[schema] ?? { type: 'object', properties: {} }
  if (!isObject(inputSchema)) throw invalid(toPointer([schema]), `${schema} must be an object`)
  const tool = { id: name, name, description, inputSchema: found === 'gemini' ? fromGemini(inputSchema) : inputSchema }
  const kept = others.filter((key) => inner[key] !== undefined)
  const more = Object.fromEntries(kept.map((key) => [key === 'title' ? 'displayName' : key, inner[key]]))
  return {
    format: found,
    tool: { ...tool, ...more } as LlmTool,
    losses: lossesOf(definition, inner, [schema, ...others]),
  }
}

function detect(outer: Fields, inner: Fields): LlmFormat {
  if ('inputSchema' in inner) return 'mcp'
  if ('input_schema' in inner) return 'anthropic'
  return outer.type === 'function' || 'strict' in inner ? 'openai' : 'gemini'
}

/** Gemini writes the types of schemas in upper case, and null as `nullable`. */
function fromGemini(schema: unknown): Record<string, unknown> {
  if (!isObject(schema)) return {}
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (key === 'type' && typeof value === 'string') return [key, value.toLowerCase()]
    if (key === 'properties' && isObject(value))
      return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fromGemini(each)]))]
    if (key === 'items') return [key, fromGemini(value)]
    if (key === 'anyOf' && Array.isArray(value)) return [key, value.map(fromGemini)]
    return [key, value]
  })
  const { nullable, ...rest } = Object.fromEntries(entries)
  return nullable === true && typeof rest.type === 'string' ? { ...rest, type: [rest.type, 'null'] } : rest
}

/** Settings of a request, such as `strict`, are no part of a tool. */
function lossesOf(outer: Fields, inner: Fields, read: readonly string[]): readonly Loss[] {
  const known = new Set(['name', 'description', 'type', 'function', ...read])
  const left = new Set([...Object.keys(outer), ...Object.keys(inner)].filter((key) => !known.has(key)))
  return Array.from(left, (lost) => ({ pointer: toPointer([lost]), lost, why: 'A tool has no such field.' }))
}

const invalid = (pointer: string, message: string): TooldexError =>
  new TooldexError('INPUT_INVALID', `The definition is not valid: ${message}.`, {
    problems: [{ severity: 'error', pointer, message }],
  })
