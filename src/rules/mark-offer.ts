import { showHiddenIn, suspiciousNote } from './suspicious-result.ts'

type Fields = Readonly<Record<string, unknown>>

/** The key of the signs in the metadata of a prompt or resource. */
const suspiciousKey = 'tooldex/suspicious'

/**
 * The content of a prompt or resource that tries to direct its reader: nothing in it is hidden, and a note stands before the
 * messages of a prompt and after the contents of a resource, whose first content many clients take as the resource.
 */
export function markOffer(result: Fields, suspicious: readonly string[]): Record<string, unknown> {
  const { messages, contents, _meta } = result
  const shown = showHiddenIn({ messages, contents }) as { messages?: unknown[]; contents?: unknown[] }
  const text = suspiciousNote(suspicious)
  const note = { role: 'user', content: { type: 'text', text } }
  return {
    ...result,
    ...(shown.messages === undefined ? {} : { messages: [note, ...shown.messages] }),
    ...(shown.contents === undefined
      ? {}
      : { contents: [...shown.contents, { uri: 'tooldex://warning', mimeType: 'text/plain', text }] }),
    _meta: { ...(_meta as object | undefined), [suspiciousKey]: [...suspicious] },
  }
}
