import { TooldexError } from '../base/errors.ts'
import { scanJson } from './scan-json.ts'

/** Limits of accepted JSON. */
export interface ReadJsonOptions {
  /** Levels of objects and arrays. */
  readonly maxDepth?: number
  readonly maxBytes?: number
  /** Objects, arrays and scalars; each costs time in every step, however short its text is. */
  readonly maxValues?: number
}

/** Parses JSON that the database can store; throws INPUT_INVALID with line and column for an invalid text. */
export function readJson(text: string, options: ReadJsonOptions = {}): unknown {
  const { maxDepth = 100, maxBytes = 10_000_000, maxValues } = options
  // A text never has more UTF-16 units than bytes, so most need no counting.
  if (text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes)) {
    throw new TooldexError('INPUT_INVALID', `The JSON has more than ${maxBytes} bytes.`, {
      hint: 'Send less data at once.',
    })
  }
  const fault = scanJson(text, maxDepth, maxValues)
  if (fault?.tooLarge) {
    throw new TooldexError('TOO_LARGE', `The JSON has more than ${maxValues} values.`, {
      hint: 'Send fewer values at once; a long array can be sent as one string.',
    })
  }
  if (fault !== undefined) throw refuse(text, fault.at, fault.message, fault.hint)
  try {
    return JSON.parse(text)
  } catch {
    throw refuse(text, 0, 'it cannot be parsed')
  }
}

/** The same for bytes, which must be UTF-8. */
export function readJsonBytes(bytes: Uint8Array, options: ReadJsonOptions = {}): unknown {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new TooldexError('BODY_INVALID', 'The body is not valid UTF-8.')
  }
  return readJson(text, options)
}

function refuse(text: string, at: number, message: string, hint?: string): TooldexError {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - before.lastIndexOf('\n')
  return new TooldexError('INPUT_INVALID', `The JSON is not valid at ${line}:${column}: ${message}.`, {
    problems: [{ severity: 'error', line, column, message, ...(hint === undefined ? {} : { hint }) }],
    hint: hint ?? 'Fix the JSON at this position.',
  })
}
