import { isObject, type JsonObject } from '../../../base/json-values.ts'
import type { OpenApiDocument, OpenApiOperation } from './openapi-document.ts'

// Names in angle brackets that are no elements, such as <id>, stay.
const elements =
  /<\/?(?:a|b|blockquote|br|code|dd|div|dl|dt|em|h[1-6]|hr|i|li|ol|p|pre|span|strong|sub|sup|table|tbody|td|th|thead|tr|u|ul)(?:\s[^<>]{0,500})?\/?>/gi
const entities: Readonly<Record<string, string>> = { amp: '&', gt: '>', lt: '<', nbsp: ' ', quot: '"', '#39': "'" }

/** A text of a document without HTML, whose tags models and search take for words. */
export function withoutMarkup(text: string): string {
  if (!text.includes('<')) return text
  const plain = text.replace(elements, (tag) =>
    /^<\/?(?:p|div|br|li|tr|h\d|ul|ol|table|pre)\b/i.test(tag) ? '\n' : '',
  )
  if (plain === text) return text
  return plain
    .replace(/&(amp|gt|lt|nbsp|quot|#39);/g, (_, name: string) => entities[name] ?? '')
    .replace(/[ \t]*\n[ \t]*(?:\n\s*)?/g, '\n')
}

/** A text of Markdown with the words of its links, without their URLs. */
export const withoutLinks = (text: string): string => text.replace(/\[([^[\]]{1,300})\]\([^()\s]{1,500}\)/g, '$1')

// Fewer operations of one resource may share a text that belongs to them.
const repeatedBy = 12
const minParagraph = 40
const repeatedOf = new WeakMap<OpenApiDocument, ReadonlySet<string>>()

const paragraphsOf = (text: string): readonly string[] => text.split(/\n\s*\n/).map((part) => part.trim())

/** A description without the paragraphs that many operations of the document have, such as those on tokens: they tell no two tools apart. */
export function withoutRepeated(text: string, document: OpenApiDocument): string {
  const [first = '', ...rest] = paragraphsOf(text)
  const repeated = rest.length === 0 ? undefined : repeatedIn(document)
  if (repeated === undefined) return text
  const kept = rest.filter((part, index) => {
    const isOfHeading = /^[*-] /.test(part) && repeated.has(rest[index - 1] ?? '')
    return !repeated.has(part) && !isOfHeading
  })
  return [first, ...kept].join('\n\n')
}

function repeatedIn(document: OpenApiDocument): ReadonlySet<string> {
  const known = repeatedOf.get(document)
  if (known !== undefined) return known
  const counts = new Map<string, number>()
  for (const { operation } of document.operations())
    for (const part of new Set(paragraphsOf(withoutMarkup(String(operation.description ?? '')))))
      if (part.length >= minParagraph) counts.set(part, (counts.get(part) ?? 0) + 1)
  const repeated = new Set([...counts].flatMap(([part, count]) => (count >= repeatedBy ? [part] : [])))
  repeatedOf.set(document, repeated)
  return repeated
}

const maxResource = 300

/** What the document says about the resource of an operation, if its schema has a name that the operation has, too. */
export function resourceText(read: OpenApiOperation, document: OpenApiDocument): string | undefined {
  const { operation, path } = read
  const words = wordsOf(`${operation.operationId ?? ''} ${operation.summary ?? ''} ${path}`)
  for (const reference of schemasOf(operation, document)) {
    const name = reference.split(/[/.]/).at(-1) ?? ''
    const { description } = document.object({ $ref: reference })
    if (typeof description !== 'string' || ![...wordsOf(name)].every((word) => words.has(word))) continue
    const [paragraph = ''] = paragraphsOf(withoutMarkup(description).trim())
    // A shorter one has hardly more than the name.
    if (paragraph.length >= minParagraph) return firstSentences(paragraph.replace(/\s+/g, ' '))
  }
  return undefined
}

/** Words of an identifier or text in their singular, as far as a rule finds it. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    (text.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) =>
      word
        .toLowerCase()
        .replace(/ies$/, 'y')
        .replace(/(?<=[^s])s$/, ''),
    ),
  )

/** The named schemas of the body and of the successful response, and those of the items of lists. */
function schemasOf(operation: JsonObject, document: OpenApiDocument): readonly string[] {
  const responses = document.object(operation.responses)
  const [status = ''] = Object.keys(responses)
    .filter((code) => /^2/.test(code))
    .sort()
  const contents = [operation.requestBody, responses[status]].map((part) => document.object(part).content)
  return contents.flatMap((content) => {
    const [media] = Object.values(document.object(content))
    const { schema } = document.object(media)
    const { type, items, properties } = document.object(schema)
    const { items: ofItems, data, values } = document.object(properties)
    const lists = [type === 'array' ? { items } : undefined, ofItems, data, values]
    const nested = lists.map((list) => document.object(list).items)
    return [schema, ...nested].flatMap((each) => (isObject(each) && typeof each.$ref === 'string' ? [each.$ref] : []))
  })
}

function firstSentences(text: string): string {
  if (text.length <= maxResource) return text
  const end = text.slice(0, maxResource).lastIndexOf('. ')
  return end > 0 ? text.slice(0, end + 1) : `${text.slice(0, maxResource - 1)}…`
}
