import { TooldexError } from '../../base/errors.ts'
import { findInText, readJsonPart } from '../../json-schema/offload/json-work.ts'
import type { HttpConfig } from './check-config.ts'
import type { HttpResponse } from './send.ts'

/** The part of an answer that is the result. */
export async function mapResponse(
  wanted: HttpConfig['response'],
  { headers, text, status }: HttpResponse,
  signal?: AbortSignal,
): Promise<unknown> {
  const says = String(headers['content-type'] ?? '')
  const isJson = wanted?.type === 'json' || (wanted?.type === undefined && /[/+]json\b/i.test(says))
  if (text === '') return null
  if (!isJson && wanted?.pointer === undefined && wanted?.path === undefined) return text
  // An error has another shape than a success.
  if (status < 400 && wanted?.path !== undefined) return find(text, wanted.path, signal)
  return read(text, status >= 400 ? undefined : wanted?.pointer, { status, signal })
}

/** Small answers and plain paths at once, all others in a worker thread: a path may take long on little. */
async function find(text: string, path: string, signal: AbortSignal | undefined): Promise<unknown> {
  const found = await findInText(text, path, signal)
  if (found === undefined) throw notJson()
  return found
}

async function read(
  text: string,
  pointer: string | undefined,
  { status, signal }: { readonly status: number; readonly signal: AbortSignal | undefined },
): Promise<unknown> {
  const found = await readJsonPart(text, pointer ?? '', { signal })
  if ('value' in found) return found.value
  if (found.missing === 'part') throw new TooldexError('HTTP_ERROR', `The answer has nothing at ${pointer}.`)
  if (status >= 400) return text
  throw notJson()
}

const notJson = (): TooldexError =>
  new TooldexError('HTTP_ERROR', 'The response is not JSON, but the tool expects JSON.')
