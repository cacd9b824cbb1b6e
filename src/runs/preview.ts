/** How a long text begins, whole characters only. */
export function previewText(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  let cut = Math.min(text.length, bytes)
  while (Buffer.byteLength(text.slice(0, cut)) > bytes) cut = Math.floor(cut * 0.8)
  const last = text.charCodeAt(cut - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? cut - 1 : cut)
}

/** A large JSON value made small: its shape stays, long lists and texts say how much is left out. */
export function previewValue(value: unknown, bytes: number): unknown {
  for (const [items, letters] of steps) {
    const small = shorten(value, items, letters, deepest)
    if (Buffer.byteLength(JSON.stringify(small) ?? '') <= bytes) return small
  }
  return shorten(value, 1, 20, 2)
}

const deepest = 6
const steps = [
  [20, 400],
  [10, 200],
  [5, 100],
  [3, 50],
  [2, 40],
] as const

function shorten(value: unknown, items: number, letters: number, depth: number): unknown {
  if (typeof value === 'string')
    return value.length <= letters ? value : `${previewText(value, letters)}… (${value.length} characters)`
  if (typeof value !== 'object' || value === null) return value
  const size = Array.isArray(value) ? `list of ${value.length}` : `object of ${Object.keys(value).length}`
  if (depth === 0) return `… (${size})`
  const inner = (each: unknown) => shorten(each, items, letters, depth - 1)
  if (Array.isArray(value)) {
    const kept = value.slice(0, items).map(inner)
    return value.length > items ? [...kept, `… (${value.length - items} more)`] : kept
  }
  const entries = Object.entries(value)
  const most = items * 2
  const kept = entries.slice(0, most).map(([name, each]) => [name, inner(each)])
  if (entries.length > most) kept.push(['…', `${entries.length - most} more`])
  return Object.fromEntries(kept)
}
