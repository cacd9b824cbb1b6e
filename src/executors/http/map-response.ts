import { TooldexError } from '../../base/errors.ts'
import { findInText, readJsonPart } from '../../json-schema/offload/json-work.ts'
import type { HttpConfig } from './check-config.ts'
import type { HttpResponse } from './send.ts'

/** The result of a call: the configured part of the response. */
export async function mapResponse(
  config: HttpConfig['response'],
  { headers, text, status }: HttpResponse,
  signal?: AbortSignal,
): Promise<unknown> {
  const contentType = String(headers['content-type'] ?? '')
  const isJson = config?.type === 'json' || (config?.type === undefined && /[/+]json\b/i.test(contentType))
  if (text === '') return null
  if (!isJson && config?.pointer === undefined && config?.path === undefined) return text
  // Error responses have a shape of their own.
  if (status < 400 && config?.path !== undefined) return find(text, config.path, signal)
  return read(text, status >= 400 ? undefined : config?.pointer, { status, signal })
}

/** Small responses and plain paths run inline, all others in a worker thread: a path can be slow even on a small text. */
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
  if (found.missing === 'part') throw new TooldexError('HTTP_ERROR', `The response has no value at ${pointer}.`)
  if (status >= 400) return text
  throw notJson()
}

const notJson = (): TooldexError =>
  new TooldexError('HTTP_ERROR', 'The response is not JSON, but the tool expects JSON.')
