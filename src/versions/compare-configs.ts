import { fromPointer } from '../base/problem.ts'
import { toOneLine } from '../base/visible-text.ts'
import type { ChangeClass, SchemaChange } from '../contract/tool-diff.ts'
import { diffJson, type JsonDifference } from './diff-json.ts'
import { showChange, showValue } from './schema-path.ts'

/** Maximum number of listed differences of one config. */
const maxDifferences = 100

/** A part of an executor's config that is visible to callers, and the condition under which its change can break a call. */
interface VisiblePart {
  readonly path: RegExp
  readonly breaks: (difference: JsonDifference) => boolean
}

const always = () => true
const isLower = ({ before, after }: JsonDifference) =>
  typeof before === 'number' && typeof after === 'number' && after < before
const isGone = ({ after }: JsonDifference) => after === undefined

const visibleParts: readonly VisiblePart[] = [
  // The shape of the result.
  { path: /^\/response(\/|$)/, breaks: always },
  // The size and the time that a call may take.
  { path: /^\/(maxBytes|timeoutMs|timeout|limits\/[^/]+)$/, breaks: isLower },
  // The values that are accepted.
  { path: /^\/paths(\/|$)/, breaks: ({ after }) => after !== undefined },
  { path: /^\/dashes(\/|$)/, breaks: isGone },
  { path: /^\/args\/\d+\/root$/, breaks: ({ after }) => after !== undefined },
]

/** The differences of an executor's config, classed by their effect on callers. */
export function compareConfigs(before: unknown, after: unknown): SchemaChange[] {
  return diffJson(before, after, maxDifferences).map((difference) => ({
    pointer: difference.pointer,
    class: classOf(difference),
    message: describeDifference(difference),
  }))
}

function classOf(difference: JsonDifference): ChangeClass {
  const breaks = visibleParts.some((part) => part.path.test(difference.pointer) && part.breaks(difference))
  return breaks ? 'breaking' : 'compatible'
}

function describeDifference(difference: JsonDifference): string {
  const name = toOneLine(nameOf(difference.pointer))
  if (!('before' in difference)) return `${name} was added: ${showValue(difference.after)}`
  if (!('after' in difference)) return `${name} was removed: ${showValue(difference.before)}`
  return `${name}: ${showChange(difference.before, difference.after)}`
}

/** A pointer as a path: `headers.Accept`, `args[0].name`. */
const nameOf = (pointer: string): string =>
  fromPointer(pointer).reduce(
    (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`),
    '',
  ) || 'the config'
