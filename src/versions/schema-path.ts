import { toOneLine } from '../base/visible-text.ts'
import { cutText } from '../contract/cut-text.ts'
import type { Side } from './comparison.ts'

const longest = 60

/** Where in a schema something is, and how to call it in a sentence. */
export interface SchemaPath {
  readonly pointer: string
  /** Names and `[]` on the way there; empty at the top. */
  readonly path: string
  readonly side: Side
  readonly depth: number
}

/** The schema as a whole. */
export const topOf = (side: Side): SchemaPath => ({ pointer: '', path: '', side, depth: 0 })

/** The place of a property. */
export function atProperty(place: SchemaPath, name: string): SchemaPath {
  const path = place.path === '' ? name : `${place.path}.${name}`
  return { ...step(place, 'properties', name), path }
}

/** The place of the items of a list. */
export const atItems = (place: SchemaPath, ...steps: string[]): SchemaPath => ({
  ...step(place, ...steps),
  path: `${place.path}[]`,
})

/** A place inside that has no name of its own. */
export function step(place: SchemaPath, ...steps: string[]): SchemaPath {
  const pointer = steps.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return { ...place, pointer: place.pointer + pointer, depth: place.depth + 1 }
}

/** How a sentence calls the place. */
export const subjectOf = (place: SchemaPath) => (place.path === '' ? `the ${place.side}` : `'${short(place.path)}'`)

/** How a sentence calls a property of it. */
export function namedAt(place: SchemaPath): string {
  return `the ${place.side === 'input' && !/[.[]/.test(place.path) ? 'parameter' : 'property'} ${subjectOf(place)}`
}

/** A value as a sentence shows it. */
export function showValue(value: unknown): string {
  return typeof value === 'string' ? `'${short(value)}'` : short(toText(value))
}

/** Two values beside each other; of long ones the part in which they begin to differ. */
export function showChange(before: unknown, after: unknown): string {
  const [was, is] = [toText(before), toText(after)]
  if (was.length <= longest && is.length <= longest) return `${showValue(before)} -> ${showValue(after)}`
  let same = 0
  while (same < was.length && was[same] === is[same]) same++
  const start = Math.max(0, same - leadIn)
  const part = (text: string) =>
    `${start > 0 ? '…' : ''}${short(text.slice(start))}${text.length > start + longest ? '…' : ''}`
  return `${part(was)} -> ${part(is)}`
}

/** How much is shown before the difference. */
const leadIn = 20

/** Values that nest too deep to be written are only called what they are. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
  } catch {
    return Array.isArray(value) ? 'an array' : 'an object'
  }
}

const short = (text: string) => cutText(toOneLine(text.slice(0, 4 * longest)), longest)
