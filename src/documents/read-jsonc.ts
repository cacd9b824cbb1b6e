import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { TooldexError } from '../base/errors.ts'

/** The value of a JSON text with comments and trailing commas, as editors write their settings. */
export function readJsonc(text: string, file: string): unknown {
  const errors: ParseError[] = []
  const plain = text.replace(/^\ufeff/, '')
  const value: unknown = parse(plain, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [error] = errors
  if (error === undefined) return value
  const line = plain.slice(0, error.offset).split('\n').length
  throw new TooldexError(
    'CLIENT_CONFIG_INVALID',
    `${file} is not valid JSON: ${printParseErrorCode(error.error)} in line ${line}.`,
  )
}
