import type { Finding } from '../../base/typed-yaml.ts'
import { type Fields, fieldOf, isFields } from './bundle-view.ts'

const open = ['inputSchema', 'outputSchema', 'executorConfig', 'annotations'] as const

/** `__proto__` as a key of an object that a schema copies key by key would be lost; further inside it is kept. */
export function findLostKeys(value: unknown): readonly Finding[] {
  const tools: unknown = isFields(value) ? value.tools : undefined
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: unknown, index) => (isFields(tool) ? findInTool(tool, ['tools', index]) : []))
}

function findInTool(tool: Fields, path: readonly PropertyKey[]): readonly Finding[] {
  const examples = Array.isArray(tool.examples) ? (tool.examples as readonly unknown[]) : []
  return [
    ...open.flatMap((name) => findIn(fieldOf(tool, name), [...path, name])),
    ...examples.flatMap((example, index) =>
      findIn(isFields(example) ? example.args : undefined, [...path, 'examples', index, 'args']),
    ),
  ]
}

function findIn(value: unknown, path: readonly PropertyKey[]): readonly Finding[] {
  if (!isFields(value) || !Object.hasOwn(value, '__proto__')) return []
  return [{ path: [...path, '__proto__'], message: "the key '__proto__' is not allowed", hint: 'choose another name' }]
}
