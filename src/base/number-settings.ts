import { TooldexError } from './errors.ts'
import type { Environment } from './expand-variables.ts'

interface NumberSetting {
  readonly min: number
  readonly max: number
  /** Whether fractions are accepted. */
  readonly fractions?: boolean
}

// The largest integer of the database columns.
const maxInteger = 2 ** 31 - 1
const count: NumberSetting = { min: 1, max: maxInteger }

/** All numeric environment variables. */
const settings = {
  TOOLDEX_DATABASE_CONNECTIONS: { min: 1, max: 1000 },
  TOOLDEX_LEASE_MS: count,
  TOOLDEX_QUEUE_MS: count,
  TOOLDEX_QUEUE_LIMIT: count,
  TOOLDEX_APPROVAL_MS: count,
  TOOLDEX_RETENTION_DAYS: { min: 0.001, max: 36_500, fractions: true },
  TOOLDEX_RETENTION_ROWS: count,
  TOOLDEX_INLINE_BYTES: count,
  /** Longer than the idle timeout of proxies, which is 60 s for nginx and most load balancers. */
  TOOLDEX_KEEP_ALIVE_MS: { min: 1000, max: 3_600_000 },
  TOOLDEX_PYTHON_WARM: { min: 0, max: 999 },
  TOOLDEX_MAX_MEMORY_MB: { min: 1, max: 999_999_999 },
  TOOLDEX_MAX_CPU_SECONDS: { min: 1, max: 999_999_999 },
  TOOLDEX_MAX_PROCESSES: { min: 1, max: 999_999_999 },
  TOOLDEX_MAX_FILE_MB: { min: 1, max: 999_999_999 },
  TOOLDEX_MAX_OPEN_FILES: { min: 1, max: 999_999_999 },
} as const satisfies Record<string, NumberSetting>

export type NumberSettingName = keyof typeof settings

/** The value of a setting, or undefined if it is unset; throws USAGE for any other text than a number in its range. */
export function readNumberSetting(env: Environment, name: NumberSettingName): number | undefined {
  const text = env[name]?.trim()
  if (text === undefined || text === '') return undefined
  const setting: NumberSetting = settings[name]
  const number = Number(text)
  const isNumber = setting.fractions ? /^\d{1,10}(\.\d{1,10})?$/.test(text) : /^\d{1,10}$/.test(text)
  if (isNumber && number >= setting.min && number <= setting.max) return number
  const range = `${setting.fractions ? 'a number' : 'an integer'} from ${setting.min} to ${setting.max}`
  throw new TooldexError('USAGE', `${name} is ${JSON.stringify(text.slice(0, 100))}; it must be ${range}.`, {
    hint: `Set ${name} to ${range}, or unset it.`,
  })
}

/** Validates all numeric settings, before anything is opened. */
export function checkNumberSettings(env: Environment): void {
  for (const name of Object.keys(settings) as NumberSettingName[]) readNumberSetting(env, name)
}
