import { isObject, textsOf } from '../../base/json-values.ts'
import { cutText } from '../../rules/cut-text.ts'
import { commentOf } from './type-text.ts'
import { indent, keyOf, pascalCase, TypeWriter } from './type-writer.ts'

const maxDescription = 500

/** The parts of a tool that its declaration states. */
export interface DeclaredTool {
  /** The name to call it by. */
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
  readonly outputSchema?: unknown
  /** Whether it returns the printed text where it has no output schema. */
  readonly returnsText: boolean
}

/** The TypeScript declaration of a tool as a method of `tools`; interfaces of several tools merge. */
export function declareTool(tool: DeclaredTool): string {
  const { name, description, inputSchema, outputSchema, returnsText } = tool
  const prefix = pascalCase(name) || 'Tool'
  const input = new TypeWriter(inputSchema, prefix)
  const output = new TypeWriter(outputSchema ?? true, `${prefix}Result`)
  const optional = isObject(inputSchema) && textsOf(inputSchema.required).length === 0 ? '?' : ''
  const result = outputSchema === undefined && returnsText ? 'string' : output.write()
  const method = `${keyOf(name)}(input${optional}: ${input.write()}): Promise<${result}>`
  const lines = [commentOf(cutText(description, maxDescription)), method].map(indent)
  const aliases = [...input.writeAliases(), ...output.writeAliases()]
  return [...aliases, `interface Tools {\n${lines.join('\n')}\n}`].join('\n')
}
