import { TooldexError } from '../../base/errors.ts'
import { parseExactly } from '../../base/exact-numbers.ts'
import { findInText } from '../../base/json-work.ts'
import type { HttpConfig } from './check-config.ts'
import type { HttpAnswer } from './send.ts'

/** The part of an answer that is the result. */
export async function mapAnswer(
  wanted: HttpConfig['response'],
  { headers, text, status }: HttpAnswer,
  signal?: AbortSignal,
): Promise<unknown> {
  const says = String(headers['content-type'] ?? '')
  const isJson = wanted?.type === 'json' || (wanted?.type === undefined && /[/+]json\b/i.test(says))
  if (text === '') return null
  if (!isJson && wanted?.pointer === undefined && wanted?.path === undefined) return text
  // An error has another shape than a success.
  if (status < 400 && wanted?.path !== undefined) return find(text, wanted.path, signal)
  const value = parse(text, status)
  if (status >= 400) return value
  return wanted?.pointer === undefined ? value : at(value, wanted.pointer)
}

/** Small answers and plain paths at once, all others in a worker thread: a path may take long on little. */
async function find(text: string, path: string, signal: AbortSignal | undefined): Promise<readonly unknown[]> {
  const found = await findInText(text, path, signal)
  if (found === undefined) throw notJson()
  return found
}

function parse(text: string, status: number): unknown {
  try {
    return parseExactly(text)
  } catch {
    if (status >= 400) return text
    throw notJson()
  }
}

const notJson = (): TooldexError =>
  new TooldexError('HTTP_ERROR', 'The response is not JSON, but the tool expects JSON.')

function at(value: unknown, pointer: string): unknown {
  const parts = pointer.split('/').slice(1)
  return parts.reduce<unknown>((held, part) => {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const has = typeof held === 'object' && held !== null && Object.hasOwn(held, key)
    if (!has) throw new TooldexError('HTTP_ERROR', `The answer has nothing at ${pointer}.`)
    return (held as Record<string, unknown>)[key]
  }, value)
}
