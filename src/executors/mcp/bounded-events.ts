import type { Readable } from 'node:stream'
import { TooldexError } from '../../base/errors.ts'
import { maxMessageHere } from './message-threads.ts'

interface EventBounds {
  readonly maxBytes: number
  /** Replaces a long event by a short one; undefined for data that is not JSON. */
  readonly reduce: (bytes: Uint8Array<ArrayBuffer>, isEvent: boolean) => Promise<string | undefined>
  /** Called with events before they are read. */
  readonly onEvents: (bytes: Buffer) => void
}

/**
 * An event stream in whole events; a long one is reduced, and one beyond the limit ends the stream. The chunks are read one by
 * one: `Readable.toWeb` throws outside of any call where a chunk arrives after the stream was cancelled.
 */
export function boundedEvents(body: Readable, bounds: EventBounds): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]()
  const end = () => void body.on('error', () => {}).destroy()
  let parts: Uint8Array[] = []
  let size = 0
  const take = (last: Uint8Array): Buffer<ArrayBuffer> => {
    const whole = Buffer.concat([...parts, last])
    parts = []
    size = 0
    return whole
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (let sent = false; !sent; ) {
        const { value, done } = await chunks.next()
        if (done) {
          if (size > 0 && size <= maxMessageHere) controller.enqueue(take(Buffer.alloc(0)))
          return controller.close()
        }
        // Only the first event of a chunk can be long.
        const first = endOfEvent(parts, value, 'first')
        if (size + (first || value.length) > bounds.maxBytes) {
          end()
          throw tooLong(bounds.maxBytes)
        }
        const isLong = first > 0 && size + first > maxMessageHere
        const event = isLong ? await bounds.reduce(take(value.subarray(0, first)), true) : undefined
        if (event !== undefined) controller.enqueue(Buffer.from(event))
        const rest = isLong ? value.subarray(first) : value
        const whole = endOfEvent(parts, rest, 'last')
        if (whole > 0) {
          const events = take(rest.subarray(0, whole))
          bounds.onEvents(events)
          controller.enqueue(events)
        }
        sent = event !== undefined || whole > 0
        const tail = rest.subarray(whole)
        size += tail.length
        if (tail.length > 0) parts.push(tail)
      }
    },
    cancel: end,
  })
}

/** The error for a message beyond the limit. */
export const tooLong = (maxBytes: number): TooldexError =>
  new TooldexError('OUTPUT_LIMIT', `The response is larger than ${maxBytes} bytes.`)

// The longest of the separators \n\n, \r\r and \r\n\r\n, less one.
const overlap = 3

/** One past the first or last empty line of a chunk; 0 if there is none. It may begin at the end of the chunks before. */
function endOfEvent(before: readonly Uint8Array[], chunk: Uint8Array, which: 'first' | 'last'): number {
  const start = Buffer.concat(before.slice(-overlap)).subarray(-overlap)
  const text = Buffer.concat([start, chunk])
  const ends = ['\n\n', '\r\r', '\r\n\r\n'].flatMap((separator) => {
    const at = which === 'first' ? text.indexOf(separator) : text.lastIndexOf(separator)
    return at < 0 ? [] : [at + separator.length - start.length]
  })
  const found = ends.filter((end) => end > 0)
  return found.length === 0 ? 0 : which === 'first' ? Math.min(...found) : Math.max(...found)
}
