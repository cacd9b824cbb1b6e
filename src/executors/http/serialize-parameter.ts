import * as z from 'zod'

/** How an array or object becomes text in a URL or a header; the names and meanings are those of OpenAPI. */
export const ParameterStyle = z.strictObject({
  style: z.enum(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject', 'simple', 'label', 'matrix']),
  /** Whether each item or property stands for itself instead of being joined. */
  explode: z.boolean().optional(),
})
export type ParameterStyle = z.infer<typeof ParameterStyle>

export const asText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

type Encode = (text: string) => string

/** The name and value pairs of a query parameter. */
export function serializeQueryParameter(
  name: string,
  value: unknown,
  given?: ParameterStyle,
): readonly [string, string][] {
  const { style, explode = style === 'form' || style === 'deepObject' } = given ?? { style: 'form' }
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) {
    const items = value.filter((item) => item != null).map(asText)
    if (explode) return items.map((item) => [name, item])
    return items.length === 0 ? [] : [[name, items.join(separators[style] ?? ',')]]
  }
  if (typeof value !== 'object' || given === undefined) return [[name, asText(value)]]
  if (style === 'deepObject') return deepPairs(name, value)
  if (explode) return entriesOf(value).map(([key, each]) => [key, asText(each)])
  return [
    [
      name,
      entriesOf(value)
        .flat()
        .map(asText)
        .join(separators[style] ?? ','),
    ],
  ]
}

const separators: Readonly<Record<string, string>> = { spaceDelimited: ' ', pipeDelimited: '|' }

/** `filter[owner][name]=x`, as deep as the value. */
function deepPairs(name: string, value: unknown): readonly [string, string][] {
  if (Array.isArray(value)) return value.flatMap((item) => deepPairs(name, item))
  if (typeof value !== 'object' || value === null) return [[name, asText(value)]]
  return entriesOf(value).flatMap(([key, each]) => deepPairs(`${name}[${key}]`, each))
}

/** The text of a parameter in the path or in a header, with every part encoded. */
export function serializePartParameter(
  name: string,
  value: unknown,
  given?: ParameterStyle,
  encode: Encode = (text) => text,
): string {
  const { style, explode = false } = given ?? { style: 'simple' }
  if (style === 'label') return `.${joinParts(value, explode ? '.' : ',', explode, encode)}`
  if (style !== 'matrix') return given === undefined ? encode(asText(value)) : joinParts(value, ',', explode, encode)
  const key = encode(name)
  if (explode && Array.isArray(value)) return value.map((item) => `;${key}=${encode(asText(item))}`).join('')
  if (explode && typeof value === 'object' && value !== null) return `;${joinParts(value, ';', true, encode)}`
  return `;${key}=${joinParts(value, ',', false, encode)}`
}

function joinParts(value: unknown, separator: string, explode: boolean, encode: Encode): string {
  if (Array.isArray(value)) return value.map((item) => encode(asText(item))).join(separator)
  if (typeof value !== 'object' || value === null) return encode(asText(value))
  const pairs = entriesOf(value).map(([key, each]) => [encode(key), encode(asText(each))])
  return explode ? pairs.map((pair) => pair.join('=')).join(separator) : pairs.flat().join(',')
}

const entriesOf = (value: object): readonly [string, unknown][] =>
  Object.entries(value).filter(([, each]) => each !== undefined && each !== null)
