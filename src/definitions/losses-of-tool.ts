import type { JsonSchema } from '../contract/input-schema.ts'
import type { LlmFormat, LlmTool, Loss } from '../contract/llm.ts'
import { maxDescriptionLength } from './dialects.ts'
import { isWithinLimits } from './is-modest.ts'
import { allowsOthers, mayBeObject, onlyObjects } from './shape-root.ts'

/** Losses of a schema, told from the tool that it is part of. */
export const inInput = (losses: readonly Loss[]): Loss[] =>
  losses.map((loss) => ({ ...loss, pointer: `/inputSchema${loss.pointer}` }))

/** What of a description is cut off. */
export function lossesOfTexts(whole: string, kept: string, format: LlmFormat): Loss[] {
  if (whole === kept) return []
  const why = `The end is cut off: no more than ${maxDescriptionLength[format]} characters are taken.`
  return [{ pointer: '/description', lost: 'description', why }]
}

/** Only MCP has a place for annotations; a title is for people, and no loss to a model. */
export function lossesOfAnnotations({ annotations = {} }: LlmTool, format: LlmFormat): Loss[] {
  if (format === 'mcp') return []
  const hints = Object.keys(annotations).filter((name) => name !== 'title' && annotations[name] !== undefined)
  return hints.map((lost) => ({
    pointer: `/annotations/${lost.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    lost,
    why: 'The definition has no place for annotations.',
  }))
}

/** What of an output schema is not told. */
export function lossesOfOutput(tool: LlmTool, format: LlmFormat): Loss[] {
  const { outputSchema = {} } = tool
  if (Object.keys(outputSchema).length === 0) return []
  const lose = (pointer: string, lost: string, why: string): Loss[] => [{ pointer, lost, why }]
  if (format !== 'mcp') return lose('/outputSchema', 'outputSchema', whyNoOutput[format])
  if (!('outputSchema' in outputOf(tool))) {
    const why = 'MCP takes it only where results are objects, and no larger than is worth reading.'
    return lose('/outputSchema', 'outputSchema', why)
  }
  return allowsOthers(outputSchema) ? lose('/outputSchema/type', 'type', onlyObjects) : []
}

const whyNoOutput = {
  openai: 'The definition has no place for it.',
  anthropic: 'The definition has no place for it.',
  gemini: 'Its place in a declaration is not taken by all of the APIs of Gemini.',
}

/** The output schema as MCP has it: one of objects, where there is one. */
export function outputOf({ outputSchema = {} }: LlmTool): { outputSchema?: JsonSchema } {
  if (Object.keys(outputSchema).length === 0 || !mayBeObject(outputSchema) || !isWithinLimits(outputSchema)) return {}
  return { outputSchema: { ...structuredClone(outputSchema), type: 'object' } }
}

/** What Gemini is not told where it gets no schema, since there are no arguments. */
export function lossesOfEmpty(schema: JsonSchema): Loss[] {
  if (Object.keys(schema).every((key) => key === 'type' || key === 'properties')) return []
  const why = 'Gemini takes none where there are no arguments, so that what is said of the whole is lost.'
  return [{ pointer: '', lost: 'schema', why }]
}
