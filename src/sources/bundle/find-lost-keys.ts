import type { Finding } from '../../diagnostics/finding.ts'
import { findLostKey } from '../../diagnostics/plain-input.ts'
import { type Fields, fieldOf, isFields } from './bundle-view.ts'

const open = ['inputSchema', 'outputSchema', 'executorConfig', 'annotations', '_meta'] as const

/** Keys of tools in a bundle that would be lost, in either spelling of their fields. */
export function findLostBundleKeys(value: unknown): readonly Finding[] {
  const tools: unknown = isFields(value) ? value.tools : undefined
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: unknown, index) => (isFields(tool) ? findInTool(tool, ['tools', index]) : []))
}

function findInTool(tool: Fields, path: readonly PropertyKey[]): readonly Finding[] {
  const examples = Array.isArray(tool.examples) ? (tool.examples as readonly unknown[]) : []
  return [
    ...open.flatMap((name) => findLostKey(fieldOf(tool, name), [...path, name])),
    ...examples.flatMap((example, index) =>
      findLostKey(isFields(example) ? example.args : undefined, [...path, 'examples', index, 'args']),
    ),
  ]
}
