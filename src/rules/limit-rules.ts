import { TooldexError } from '../base/errors.ts'
import {
  type Limit,
  type LimitCounter,
  type LimitMeasure,
  type LimitRefusal,
  limitMeasures,
} from '../contract/policy.ts'
import type { Caller } from '../contract/stores.ts'
import type { Finding } from '../diagnostics/finding.ts'
import { namesCaller } from './policy-rules.ts'

/** Returns the contradictions in a limit whose fields are each well formed. */
export function checkLimitRule(limit: Limit): readonly Finding[] {
  if (limitMeasures.some((measure) => limit[measure] !== undefined)) return []
  return [{ path: [], message: 'the limit has no maximum', hint: `set at least one of ${limitMeasures.join(', ')}` }]
}

/** The counters that a call counts toward: one of each limit that applies to its caller, tool and toolsets. */
export function countersOfLimits(limits: readonly Limit[], caller: Caller, tool: string): readonly LimitCounter[] {
  return limits.flatMap((limit) => {
    if (!isOpen(limit.caller, (name) => namesCaller(name, caller))) return []
    if (!isOpen(limit.tool, (name) => name === tool)) return []
    const toolsets = caller.toolsets ?? []
    if (limit.toolset !== '*' && !isOpen(limit.toolset, (name) => toolsets.includes(name))) return []
    const each = limit.toolset === '*' ? toolsets : [undefined]
    return each.map((toolset) => ({ limit, subject: subjectOf(limit, { toolset, tool, caller: caller.actor }) }))
  })
}

const isOpen = (name: string | undefined, matches: (name: string) => boolean): boolean =>
  name === undefined || name === '*' || matches(name)

type Subject = { readonly [Field in 'toolset' | 'tool' | 'caller']: string | undefined }

/** The parts that are counted separately; the caller is the last one, because only its name can contain a space. */
const subjectOf = (limit: Limit, subject: Subject): string =>
  (['toolset', 'tool', 'caller'] as const)
    .filter((field) => limit[field] === '*')
    .map((field) => `${field}=${subject[field]}`)
    .join(' ')

const units: Readonly<Record<LimitMeasure, string>> = {
  callsPerMinute: 'calls per minute',
  callsPerDay: 'calls per day',
  secondsPerDay: 'seconds of run time per day',
  bytesPerDay: 'bytes of output per day',
  tokensPerDay: 'tokens of answers per day',
}

/** The error of a call that a limit does not allow now. */
export function limitExceeded({ limit, subject, measure, retryAfter }: LimitRefusal): TooldexError {
  const max = limit[measure] ?? 0
  const whose = subject === '' ? '' : ` for ${subject}`
  const message = `The limit ${limit.name} allows ${max} ${units[measure]}${whose}, which are used.`
  const hint = `Wait ${retryAfter} seconds, then call again.`
  return new TooldexError('LIMIT_EXCEEDED', message, { hint, retryAfter, limit: { name: limit.name, measure, max } })
}
