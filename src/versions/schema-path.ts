import { toOneLine } from '../base/invisible-characters.ts'
import { toPointer } from '../base/problem.ts'
import { cutText } from '../rules/cut-text.ts'
import type { Side } from './comparison.ts'

const maxLength = 60

/** The location of a difference in a schema, and its name in messages. */
export interface SchemaPath {
  readonly pointer: string
  /** Property names and `[]`; empty at the root. */
  readonly path: string
  readonly side: Side
  readonly depth: number
}

/** The schema as a whole. */
export const topOf = (side: Side): SchemaPath => ({ pointer: '', path: '', side, depth: 0 })

/** The path of a property. */
export function atProperty(location: SchemaPath, name: string): SchemaPath {
  const path = location.path === '' ? name : `${location.path}.${name}`
  return { ...stepInSchema(location, 'properties', name), path }
}

/** The path of the items of an array. */
export const atItems = (location: SchemaPath, ...steps: string[]): SchemaPath => ({
  ...stepInSchema(location, ...steps),
  path: `${location.path}[]`,
})

/** The path of a keyword, with the name of its parent. */
export function stepInSchema(location: SchemaPath, ...steps: string[]): SchemaPath {
  return { ...location, pointer: location.pointer + toPointer(steps), depth: location.depth + 1 }
}

/** The name of a path in messages. */
export const subjectOf = (location: SchemaPath) =>
  location.path === '' ? `the ${location.side}` : `'${short(location.path)}'`

/** The name of a property in messages. */
export function propertyNameAt(location: SchemaPath): string {
  return `the ${location.side === 'input' && !/[.[]/.test(location.path) ? 'parameter' : 'property'} ${subjectOf(location)}`
}

/** A value in messages. */
export function showValue(value: unknown): string {
  return typeof value === 'string' ? `'${short(value)}'` : short(toText(value))
}

/** Two values with an arrow between them; of long ones, the part at which the difference starts. */
export function showChange(before: unknown, after: unknown): string {
  const [was, is] = [toText(before), toText(after)]
  if (was.length <= maxLength && is.length <= maxLength) return `${showValue(before)} -> ${showValue(after)}`
  let same = 0
  while (same < was.length && was[same] === is[same]) same++
  const start = Math.max(0, same - leadIn)
  const part = (text: string) =>
    `${start > 0 ? '…' : ''}${short(text.slice(start))}${text.length > start + maxLength ? '…' : ''}`
  return `${part(was)} -> ${part(is)}`
}

/** Characters shown before the difference. */
const leadIn = 20

/** The text of a value; only its type if it is nested too deeply to be serialized. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
  } catch {
    return Array.isArray(value) ? 'an array' : 'an object'
  }
}

const short = (text: string) => cutText(toOneLine(text.slice(0, 4 * maxLength)), maxLength)
