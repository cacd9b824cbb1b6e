import { createHash } from 'node:crypto'
import { TooldexError } from '../../base/errors.ts'
import type { HttpConfig } from './check-config.ts'
import { asText, toQueryPairs } from './serialize-parameter.ts'

/** A body as it is sent, with the content type that describes it. */
interface EncodedBody {
  readonly body: string | Buffer
  readonly contentType?: string
}

/** Encodes the filled template of a body. */
export function encodeBody(
  { bodyType, files = [] }: Pick<HttpConfig, 'bodyType' | 'files'>,
  value: unknown,
): EncodedBody {
  if (bodyType === 'binary') return { body: decodeBase64('body', value), contentType: 'application/octet-stream' }
  if (bodyType === 'form')
    return {
      body: new URLSearchParams(fieldsOf(value).flatMap(([name, each]) => [...toQueryPairs(name, each)])).toString(),
      contentType: 'application/x-www-form-urlencoded',
    }
  if (bodyType === 'multipart') return encodeMultipart(fieldsOf(value), new Set(files))
  if (typeof value === 'string' && bodyType !== 'json') return { body: value }
  return { body: JSON.stringify(value), contentType: 'application/json' }
}

function fieldsOf(value: unknown): readonly [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value)
  throw invalid('body', 'must be an object, whose properties are the fields of the form')
}

/** One part for each field, and for each item of an array; the boundary depends on the content only, so that a plan shows what is sent. */
function encodeMultipart(fields: readonly [string, unknown][], files: ReadonlySet<string>): EncodedBody {
  const parts = fields.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).filter((each) => each != null).map((each) => toPart(name, each, files)),
  )
  const boundary = `tooldex-${createHash('sha256').update(Buffer.concat(parts)).digest('hex').slice(0, 32)}`
  const pieces = [
    ...parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n`), part]),
    Buffer.from(`--${boundary}--\r\n`),
  ]
  return { body: Buffer.concat(pieces), contentType: `multipart/form-data; boundary=${boundary}` }
}

function toPart(name: string, value: unknown, files: ReadonlySet<string>): Buffer {
  const isFile = files.has(name)
  const type = typeof value === 'object' ? 'application/json' : undefined
  const header = [
    `content-disposition: form-data; name="${quote(name)}"${isFile ? `; filename="${quote(name)}"` : ''}`,
    ...(isFile ? ['content-type: application/octet-stream'] : type === undefined ? [] : [`content-type: ${type}`]),
  ]
  const content = isFile ? decodeBase64(name, value) : Buffer.from(asText(value))
  return Buffer.concat([Buffer.from(`${header.join('\r\n')}\r\n\r\n`), content, Buffer.from('\r\n')])
}

/** The escapes of the HTML standard for names in a multipart header. */
const quote = (text: string): string => text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

function decodeBase64(name: string, value: unknown): Buffer {
  const text = typeof value === 'string' ? value.replace(/\s/g, '') : undefined
  if (text === undefined || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(text))
    throw invalid(name, 'must be the base64 text of the bytes to send')
  return Buffer.from(text, 'base64')
}

function invalid(name: string, why: string): TooldexError {
  const message = `${name} ${why}`
  return new TooldexError('INPUT_INVALID', `${message}.`, {
    problems: [{ severity: 'error', pointer: `/${name}`, message }],
  })
}
