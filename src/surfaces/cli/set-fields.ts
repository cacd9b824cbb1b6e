import { TooldexError } from '../../base/errors.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { parseJsonOrYaml } from '../../documents/json-document.ts'

const texts = new Set(
  'name displayName description namespace summary notes securitySummary scriptContent executorType category'.split(' '),
)
const hint = 'Write --set displayName="Send report", --set tags=[a,b] or --set executorConfig.timeoutMs=5000.'

/** What `--set field=value` changes of a tool: a whole field, or by a path with dots a part of one. */
export function setFields(words: readonly string[], tool: RegisteredTool): Record<string, unknown> {
  const changed: Record<string, unknown> = {}
  for (const word of words) {
    const [, place = '', value = ''] = /^([^=]+)=(.*)$/s.exec(word) ?? []
    const [first = '', ...inner] = place.trim().split('.')
    if (first === '' || inner.includes('') || inner.includes('__proto__'))
      throw new TooldexError('USAGE', `--set takes field=value, not '${word.slice(0, 100)}'.`, { hint })
    const field = first.replaceAll(/(?<=.)_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    const known = field in changed ? changed[field] : tool[field as keyof RegisteredTool]
    changed[field] = inner.length === 0 ? readValue(field, value) : within(known, inner, readYaml(value, word))
  }
  return changed
}

/** Texts are taken as they are; no text at all, or the word null, is none. */
function readValue(field: string, value: string): unknown {
  if (!texts.has(field)) return readYaml(value, `${field}=${value}`)
  return value === '' || value === 'null' ? null : value
}

function readYaml(text: string, word: string): unknown {
  const { value, problems } = parseJsonOrYaml(text, '--set')
  if (problems.length === 0) return value
  throw new TooldexError('USAGE', `--set ${word.slice(0, 100)}: ${problems[0]?.message}`, { hint })
}

/** A copy of a value with another one at a place in it. */
function within(value: unknown, [name = '', ...rest]: readonly string[], inner: unknown): unknown {
  const held = (value as Record<string, unknown> | null | undefined)?.[name]
  const put = rest.length === 0 ? inner : within(held, rest, inner)
  if (Array.isArray(value)) {
    const index = Number(name)
    if (!/^\d+$/.test(name) || index > value.length)
      throw new TooldexError('USAGE', `There is no item ${name} in a list of ${value.length}.`, { hint })
    return value.toSpliced(index, 1, put)
  }
  if (typeof value !== 'object' && value !== undefined)
    throw new TooldexError('USAGE', `There is nothing below '${String(value).slice(0, 100)}' to set ${name} in.`, {
      hint,
    })
  return { ...value, [name]: put }
}
