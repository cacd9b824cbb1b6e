/** A row of a table. */
export type TableRow = Readonly<Record<string, unknown>>

/** An image in a result. */
export interface ResultImage {
  readonly mimeType: string
  readonly data: string
}

const maxColumns = 12
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

const isRecord = (value: unknown): value is TableRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The rows of a value that is a list of objects, or of its only such list. */
export function rowsOf(value: unknown): readonly TableRow[] | undefined {
  if (Array.isArray(value)) return value.length > 0 && value.every(isRecord) ? value : undefined
  if (!isRecord(value)) return undefined
  const lists = Object.values(value).filter((each) => Array.isArray(each) && each.length > 0 && each.every(isRecord))
  return lists.length === 1 ? (lists[0] as readonly TableRow[]) : undefined
}

/** The columns of rows in the order of their first appearance. */
export const columnsOf = (rows: readonly TableRow[]): readonly string[] =>
  [...new Set(rows.slice(0, 100).flatMap(Object.keys))].slice(0, maxColumns)

/** The images of a result in the content blocks of MCP. SVG is not one of them: it can contain scripts. */
export function imagesOf(value: unknown): readonly ResultImage[] {
  const blocks =
    isRecord(value) && Array.isArray(value.content) ? value.content : Array.isArray(value) ? value : [value]
  return blocks.filter(
    (block): block is ResultImage =>
      isRecord(block) &&
      typeof block.data === 'string' &&
      typeof block.mimeType === 'string' &&
      imageTypes.has(block.mimeType) &&
      /^[A-Za-z0-9+/\s]*={0,2}$/.test(block.data),
  )
}
