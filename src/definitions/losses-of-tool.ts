import { toPointer } from '../base/problem.ts'
import type { JsonSchema } from '../contract/input-schema.ts'
import type { LlmFormat, LlmTool, Loss } from '../contract/llm.ts'
import { maxDescriptionLength } from './dialects.ts'
import { allowsOthers, isWithinLimits, mayBeObject, onlyObjects } from './shape-root.ts'

/** Losses of an input schema with pointers from the tool. */
export const inInput = (losses: readonly Loss[]): Loss[] =>
  losses.map((loss) => ({ ...loss, pointer: `/inputSchema${loss.pointer}` }))

/** The loss of a truncated description. */
export function lossesOfTexts(whole: string, kept: string, format: LlmFormat): Loss[] {
  if (whole === kept) return []
  const why = `The end is cut off: at most ${maxDescriptionLength[format]} characters are allowed.`
  return [{ pointer: '/description', lost: 'description', why }]
}

/** Only MCP supports annotations; a title is for people, so omitting it is not a loss to a model. */
export function lossesOfAnnotations({ annotations = {} }: LlmTool, format: LlmFormat): Loss[] {
  if (format === 'mcp') return []
  const hints = Object.keys(annotations).filter((name) => name !== 'title' && annotations[name] !== undefined)
  return hints.map((lost) => ({
    pointer: toPointer(['annotations', lost]),
    lost,
    why: 'The definition does not support annotations.',
  }))
}

/** The losses of an output schema. */
export function lossesOfOutput(tool: LlmTool, format: LlmFormat): Loss[] {
  const { outputSchema = {} } = tool
  if (Object.keys(outputSchema).length === 0) return []
  const lose = (pointer: string, lost: string, why: string): Loss[] => [{ pointer, lost, why }]
  if (format !== 'mcp') return lose('/outputSchema', 'outputSchema', whyNoOutput[format])
  if (!('outputSchema' in outputOf(tool))) {
    const why = 'MCP supports it only for results that are objects, and up to a limited size.'
    return lose('/outputSchema', 'outputSchema', why)
  }
  return allowsOthers(outputSchema) ? lose('/outputSchema/type', 'type', onlyObjects) : []
}

const whyNoOutput = {
  openai: 'The definition does not support it.',
  anthropic: 'The definition does not support it.',
  gemini: 'Not all APIs of Gemini accept it in a declaration.',
}

/** The output schema for MCP, if it allows objects. */
export function outputOf({ outputSchema = {} }: LlmTool): { outputSchema?: JsonSchema } {
  if (Object.keys(outputSchema).length === 0 || !mayBeObject(outputSchema) || !isWithinLimits(outputSchema)) return {}
  return { outputSchema: { ...structuredClone(outputSchema), type: 'object' } }
}

/** The loss of a schema without arguments, which Gemini does not accept. */
export function lossesOfEmpty(schema: JsonSchema): Loss[] {
  if (Object.keys(schema).every((key) => key === 'type' || key === 'properties')) return []
  const why = 'Gemini accepts no schema without arguments, so its other keywords are lost.'
  return [{ pointer: '', lost: 'schema', why }]
}
