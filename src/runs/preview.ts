/** The beginning of a text in at most `bytes` bytes, without a split character. */
export function previewText(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  let cut = Math.min(text.length, bytes)
  while (Buffer.byteLength(text.slice(0, cut)) > bytes) cut = Math.floor(cut * 0.8)
  const last = text.charCodeAt(cut - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? cut - 1 : cut)
}

/** Shortens a large JSON value: its structure stays, and long arrays and strings state the omitted size. */
export function previewValue(value: unknown, bytes: number): unknown {
  for (const [items, characters] of steps) {
    const small = shorten(value, items, characters, maxDepth)
    if (Buffer.byteLength(JSON.stringify(small) ?? '') <= bytes) return small
  }
  return shorten(value, 1, 20, 2)
}

const maxDepth = 6
const steps = [
  [20, 400],
  [10, 200],
  [5, 100],
  [3, 50],
  [2, 40],
] as const

function shorten(value: unknown, items: number, characters: number, depth: number): unknown {
  if (typeof value === 'string')
    return value.length <= characters ? value : `${previewText(value, characters)}… (${value.length} characters)`
  if (typeof value !== 'object' || value === null) return value
  const size = Array.isArray(value) ? `array of ${value.length}` : `object of ${Object.keys(value).length}`
  if (depth === 0) return `… (${size})`
  const inner = (each: unknown) => shorten(each, items, characters, depth - 1)
  if (Array.isArray(value)) {
    const shortened = value.slice(0, items).map(inner)
    return value.length > items ? [...shortened, `… (${value.length - items} more)`] : shortened
  }
  const entries = Object.entries(value)
  const maxEntries = items * 2
  const shortened = entries.slice(0, maxEntries).map(([name, each]) => [name, inner(each)])
  if (entries.length > maxEntries) shortened.push(['…', `${entries.length - maxEntries} more`])
  return Object.fromEntries(shortened)
}
