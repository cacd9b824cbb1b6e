import { TooldexError } from './errors.ts'
import type { Environment } from './expand-variables.ts'

interface NumberSetting {
  readonly least: number
  readonly most: number
  /** Parts of a whole are taken, too. */
  readonly parts?: boolean
}

// The database counts up to here.
const most = 2 ** 31 - 1
const count: NumberSetting = { least: 1, most }

/** Every number that whoever runs Tooldex sets in the environment. */
const settings = {
  TOOLDEX_DATABASE_CONNECTIONS: { least: 1, most: 1000 },
  TOOLDEX_LEASE_MS: count,
  TOOLDEX_QUEUE_MS: count,
  TOOLDEX_QUEUE_LIMIT: count,
  TOOLDEX_APPROVAL_MS: count,
  TOOLDEX_RETENTION_DAYS: { least: 0.001, most: 36_500, parts: true },
  TOOLDEX_RETENTION_ROWS: count,
  TOOLDEX_INLINE_BYTES: count,
  /** Longer than proxies keep idle connections open: nginx and most load balancers do for 60 s. */
  TOOLDEX_KEEP_ALIVE_MS: { least: 1000, most: 3_600_000 },
  TOOLDEX_PYTHON_WARM: { least: 0, most: 999 },
  TOOLDEX_MAX_MEMORY_MB: { least: 1, most: 999_999_999 },
  TOOLDEX_MAX_CPU_SECONDS: { least: 1, most: 999_999_999 },
  TOOLDEX_MAX_PROCESSES: { least: 1, most: 999_999_999 },
  TOOLDEX_MAX_FILE_MB: { least: 1, most: 999_999_999 },
  TOOLDEX_MAX_OPEN_FILES: { least: 1, most: 999_999_999 },
} as const satisfies Record<string, NumberSetting>

export type NumberSettingName = keyof typeof settings

/** What is set, or undefined where nothing is; anything that is no such number is refused, not passed over. */
export function readNumberSetting(env: Environment, name: NumberSettingName): number | undefined {
  const text = env[name]?.trim()
  if (text === undefined || text === '') return undefined
  const setting: NumberSetting = settings[name]
  const number = Number(text)
  const isWritten = setting.parts ? /^\d{1,10}(\.\d{1,10})?$/.test(text) : /^\d{1,10}$/.test(text)
  if (isWritten && number >= setting.least && number <= setting.most) return number
  const what = `a ${setting.parts ? '' : 'whole '}number from ${setting.least} to ${setting.most}`
  throw new TooldexError('USAGE', `${name} is ${JSON.stringify(text.slice(0, 100))}; it takes ${what}.`, {
    hint: `Set ${name} to ${what}, or leave it out.`,
  })
}

/** Refuses to begin where any of them is wrong, before anything is opened. */
export function checkNumberSettings(env: Environment): void {
  for (const name of Object.keys(settings) as NumberSettingName[]) readNumberSetting(env, name)
}
