import type { ContentBlock } from '@modelcontextprotocol/server'
import { isObject } from '../../base/json-values.ts'

/** The content blocks of MCP in an output: items of which at least one is an image, audio, or a resource. Undefined for other outputs. */
export function toContentBlocks(output: unknown): ContentBlock[] | undefined {
  if (!Array.isArray(output) || output.every((item) => typeof item === 'string')) return undefined
  const blocks = output.map(toBlock)
  return blocks.every((block) => block !== undefined) ? blocks : undefined
}

function toBlock(item: unknown): ContentBlock | undefined {
  if (typeof item === 'string') return { type: 'text', text: item }
  if (!isObject(item)) return undefined
  const { type, mimeType, data, uri, name, text, omitted } = item
  if ((type === 'image' || type === 'audio') && typeof mimeType === 'string') {
    if (typeof data === 'string') return { type, mimeType, data }
    return typeof omitted === 'string' ? { type: 'text', text: `(${type}: ${omitted})` } : undefined
  }
  if (typeof uri !== 'string') return undefined
  const about = { uri, ...(typeof mimeType === 'string' ? { mimeType } : {}) }
  if (type === 'resource_link' && typeof name === 'string') return { type, name, ...about }
  if (type !== 'resource') return undefined
  if (typeof text === 'string') return { type, resource: { ...about, text } }
  return typeof data === 'string' ? { type, resource: { ...about, blob: data } } : undefined
}
