import { TooldexError } from '../../base/errors.ts'
import { parseExactly } from '../../base/exact-numbers.ts'
import { findByPath } from '../../base/json-path.ts'
import type { HttpConfig } from './check-config.ts'
import type { HttpAnswer } from './send.ts'

/** The part of an answer that is the result. */
export function mapAnswer(wanted: HttpConfig['response'], { headers, text, status }: HttpAnswer): unknown {
  const says = String(headers['content-type'] ?? '')
  const isJson = wanted?.type === 'json' || (wanted?.type === undefined && /[/+]json\b/i.test(says))
  if (text === '') return null
  if (!isJson && wanted?.pointer === undefined && wanted?.path === undefined) return text
  const value = parse(text, status)
  // What an error looks like is another matter than what a success does.
  if (status >= 400) return value
  if (wanted?.path !== undefined) return findByPath(value, wanted.path)
  return wanted?.pointer === undefined ? value : at(value, wanted.pointer)
}

function parse(text: string, status: number): unknown {
  try {
    return parseExactly(text)
  } catch {
    if (status >= 400) return text
    throw new TooldexError('HTTP_ERROR', 'The answer is no JSON, but the tool expects it.')
  }
}

function at(value: unknown, pointer: string): unknown {
  const parts = pointer.split('/').slice(1)
  return parts.reduce<unknown>((held, part) => {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const has = typeof held === 'object' && held !== null && Object.hasOwn(held, key)
    if (!has) throw new TooldexError('HTTP_ERROR', `The answer has nothing at ${pointer}.`)
    return (held as Record<string, unknown>)[key]
  }, value)
}
