import { TooldexError } from '../base/errors.ts'
import type { Environment } from '../base/expand-variables.ts'
import { didYouMean } from '../base/suggest.ts'

/** An environment variable that Tooldex reads. */
export interface Setting {
  readonly type: 'integer' | 'number' | 'switch' | 'text'
  /** The range of a number. */
  readonly min?: number
  readonly max?: number
  /** The value if the variable is unset or empty. */
  readonly default: number | boolean | string | undefined
  /** The default for readers, if it is not one value. */
  readonly fallback?: string
  /** Whether its value is redacted and never passed to another process. */
  readonly isSecret?: boolean
  readonly description: string
}

// The largest integer of the database columns.
const maxInteger = 2 ** 31 - 1
const maxLimit = 999_999_999

const integer = (min: number, max: number, initial: number, description: string) =>
  ({ type: 'integer', min, max, default: initial, description }) as const
const enabled = (description: string) => ({ type: 'switch', default: true, description }) as const
const disabled = (description: string) => ({ type: 'switch', default: false, description }) as const
const text = (fallback: string, description: string) =>
  ({ type: 'text', default: undefined, fallback, description }) as const
const secret = (description: string) =>
  ({ type: 'text', default: undefined, fallback: 'none', isSecret: true, description }) as const

/** All settings; the reference page lists them in this order. */
export const settingTable = {
  TOOLDEX_HOME: text('`~/.tooldex`', 'the folder of configs, caches, keys and the embedded database'),
  TOOLDEX_LOG_FILE: text('none', 'a file that collects all log entries from DEBUG up'),

  TOOLDEX_URL: text('the local server', 'the server that commands use'),
  TOOLDEX_API_KEY: secret('the key for that server; at the first start of a server, its admin key'),

  DATABASE_URL: {
    ...secret('the URL of the PostgreSQL database'),
    fallback: 'the embedded database in `TOOLDEX_HOME`',
  },
  PGHOST: text('`localhost`', 'the host of a `DATABASE_URL` without one'),
  PGPORT: text('`5432`', 'the port of a `DATABASE_URL` without one'),
  PGPASSWORD: secret('the password of a `DATABASE_URL` without one'),
  TOOLDEX_DATABASE_CONNECTIONS: integer(
    1,
    1000,
    10,
    'connections to PostgreSQL in the pool of a process; each process has up to three more, for heartbeats, notifications and migrations',
  ),

  TOOLDEX_PORT: integer(0, 65_535, 7331, 'the port of `tooldex serve`; the next free one if it is taken'),
  TOOLDEX_ALLOWED_HOSTS: text('the listening address', 'the host names, separated by commas, that requests may use'),
  TOOLDEX_PUBLIC_URL: text(
    'the address of each request',
    'the origin under which callers and browsers reach the server, such as `https://tools.example.org`',
  ),
  TOOLDEX_OAUTH_ISSUER: text('none', 'the authorization server whose access tokens are accepted'),
  TOOLDEX_OAUTH_RESOURCE: text('none', 'the URL of the MCP endpoint that access tokens must be issued for'),
  TOOLDEX_OAUTH_CLIENT_ID: text(
    'none',
    'the client at the authorization server that signs people in to the web console; without it, they need a key',
  ),
  TOOLDEX_OAUTH_CLIENT_SECRET: secret('the secret of that client; none for a public client'),
  TOOLDEX_OAUTH_GROUPS: text(
    '`groups`',
    'the claim of access tokens with the groups of the caller; `a.b` is a nested one',
  ),
  TOOLDEX_OAUTH_WORKSPACE: text('`default`', 'the workspace of callers with an access token'),
  TOOLDEX_TRUSTED_PROXIES: text('none', 'the addresses and networks of proxies whose `X-Forwarded-For` is used'),
  TOOLDEX_KEEP_ALIVE_MS: integer(
    1000,
    3_600_000,
    // Longer than the idle timeout of proxies, which is 60 s for nginx and most load balancers.
    75_000,
    'the time an idle connection stays open; set it above the idle timeout of a proxy in front',
  ),

  TOOLDEX_QUEUE_LIMIT: {
    type: 'integer',
    min: 1,
    max: maxInteger,
    default: undefined,
    fallback: '10000; 2000 of one tool or caller',
    description: 'calls that wait for a worker, and the same number that wait for approval',
  },
  TOOLDEX_QUEUE_MS: integer(
    1,
    maxInteger,
    3_600_000,
    'the time a call waits for a worker, also after its approval, before it is CANCELLED with `QUEUE_EXPIRED`',
  ),
  TOOLDEX_APPROVAL_MS: integer(1, maxInteger, 24 * 3_600_000, 'the time a call waits for approval'),
  TOOLDEX_LEASE_MS: integer(
    1,
    maxInteger,
    10_000,
    'the time after which the executions of a lost process are taken over; a process that cannot reach the database for three fifths of it ends its executions',
  ),
  TOOLDEX_INLINE_BYTES: integer(
    1,
    maxInteger,
    64 * 1024,
    'the largest output that is part of a response; a larger one has a handle',
  ),
  TOOLDEX_RETENTION_DAYS: {
    type: 'number',
    min: 0.001,
    max: 36_500,
    default: 30,
    description: 'the age of ended executions that are kept',
  },
  TOOLDEX_RETENTION_ROWS: integer(1, maxInteger, 1_000_000, 'the number of ended executions that are kept'),

  TOOLDEX_ALLOW_FOLDERS: text('none', 'the folders that sandboxed tools may read, or with `:rw` write: `/a:rw:/b`'),
  TOOLDEX_ALLOW_NETWORK: disabled('allows the network to tools that request it'),
  TOOLDEX_LIMITED: text(
    'none',
    'the configs whose tools run with limits only, without a sandbox: `docker gh`; `*` for all',
  ),
  TOOLDEX_ALLOW_LIMITED: disabled('runs tools with limits only if they request it or there is no sandbox'),
  TOOLDEX_GRANTS: text(
    'all, for the workspace `default`',
    'the parts of the host that workspaces may use: `team=folders,network other=all`',
  ),
  TOOLDEX_SHIELD: enabled('hides the server from tools that run with limits only'),
  TOOLDEX_MAX_MEMORY_MB: integer(1, maxLimit, 2048, 'the maximum memory that a tool may request'),
  TOOLDEX_MAX_CPU_SECONDS: integer(1, maxLimit, 3600, 'the maximum CPU time that a tool may request'),
  TOOLDEX_MAX_PROCESSES: integer(1, maxLimit, 512, 'the maximum number of processes that a tool may request'),
  TOOLDEX_MAX_FILE_MB: integer(1, maxLimit, 2048, 'the maximum size of files that a tool may request'),
  TOOLDEX_MAX_OPEN_FILES: integer(1, maxLimit, 4096, 'the maximum number of open files that a tool may request'),

  TOOLDEX_SECRET_KEY: {
    ...secret('the key that stored secrets are encrypted with, the same for all servers and workers'),
    fallback: '`secret.key` in `TOOLDEX_HOME`',
  },
  TOOLDEX_MCP_SERVERS: text('`servers.json` in `TOOLDEX_HOME`', 'the file of MCP servers for tools'),
  TOOLDEX_PYTHON: text('the `python3` of the system', 'the Python that runs scripts'),
  TOOLDEX_PYTHON_ENVS: text('`envs` in `TOOLDEX_HOME`', 'the folder of Python environments'),
  TOOLDEX_PYTHON_WARM: integer(0, 999, 4, 'the number of sandboxed interpreters that a server keeps ready'),

  TOOLDEX_LEARNING: enabled('lets search learn from calls'),
  TOOLDEX_EMBEDDINGS_URL: text('the included encoder', 'a service that computes embeddings for search'),
  TOOLDEX_EMBEDDINGS_MODEL: {
    type: 'text',
    default: 'text-embedding-3-small',
    description: 'the model of that service',
  },
  TOOLDEX_EMBEDDINGS_KEY: secret('the key for that service'),

  OTEL_EXPORTER_OTLP_HEADERS: secret('headers of an OpenTelemetry exporter, never passed to tools'),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: secret('headers of an OpenTelemetry exporter of spans, never passed to tools'),
  TOOLDEX_RUN_ID: text('none', 'set by Tooldex in the processes of a call, to find them again'),
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settingTable

type Widened<Value> = Value extends number ? number : Value extends string ? string : Value
/** The type of the value of a setting. */
type SettingValue<Name extends SettingName> =
  | Widened<(typeof settingTable)[Name]['default']>
  | ((typeof settingTable)[Name]['type'] extends 'text' ? string : never)
  | ((typeof settingTable)[Name]['type'] extends 'integer' ? number : never)
  | ((typeof settingTable)[Name]['type'] extends 'switch' ? boolean : never)

/** The environment of this process. */
export const processEnv: NodeJS.ProcessEnv = process.env

/** The value of a setting, or its default; throws USAGE for any other text than its type and range allow. */
export function readSetting<Name extends SettingName>(
  name: Name,
  env: Environment | undefined = processEnv,
): SettingValue<Name> {
  const setting: Setting = settingTable[name]
  return parseSetting(name, setting, env[name]) as SettingValue<Name>
}

function parseSetting(name: string, setting: Setting, written: string | undefined): Setting['default'] {
  const value = setting.type === 'text' ? written : written?.trim()
  if (value === undefined || value === '') return setting.default
  if (setting.type === 'text') return value
  const parsed = setting.type === 'switch' ? readSwitch(value) : readNumber(value, setting)
  if (parsed !== undefined) return parsed
  const allowed = allowedValues(setting)
  throw new TooldexError('USAGE', `${name} is ${JSON.stringify(value.slice(0, 100))}; it must be ${allowed}.`, {
    hint: `Set ${name} to ${allowed}, or unset it.`,
  })
}

function readNumber(text: string, { type, min = 0, max = maxInteger }: Setting): number | undefined {
  const isNumber = type === 'number' ? /^\d{1,10}(\.\d{1,10})?$/.test(text) : /^\d{1,10}$/.test(text)
  const number = Number(text)
  return isNumber && number >= min && number <= max ? number : undefined
}

function readSwitch(text: string): boolean | undefined {
  if (/^(1|true|yes|on)$/i.test(text)) return true
  return /^(0|false|no|off)$/i.test(text) ? false : undefined
}

/** The values that a setting accepts, for messages and the reference page. */
export function allowedValues({ type, min, max }: Setting): string {
  if (type === 'text') return 'text'
  if (type === 'switch') return 'on or off'
  return `${type === 'number' ? 'a number' : 'an integer'} from ${min} to ${max}`
}

// Variables of the tests and benchmarks.
const ofTests = /^TOOLDEX_(?:BENCH|FUZZ|LONG|LOOP|PROPERTY|SOAK|TEST)(?:_|$)/

/** Validates all settings, before anything is opened; returns a warning for each unknown TOOLDEX_ variable. */
export function checkSettings(env: Environment = processEnv): readonly string[] {
  const names = Object.keys(settingTable) as SettingName[]
  for (const name of names) readSetting(name, env)
  const unknown = Object.keys(env).filter((name) => name.startsWith('TOOLDEX_') && !Object.hasOwn(settingTable, name))
  return unknown
    .filter((name) => !ofTests.test(name))
    .map((name) => `${name} is not a setting and has no effect.${didYouMean(name, names)}`)
}

/** The settings whose values are secret. */
export const secretSettings: readonly string[] = Object.entries<Setting>(settingTable).flatMap(
  ([name, { isSecret }]) => (isSecret ? [name] : []),
)
const secretNames = new Set(secretSettings)

/** Whether a variable is a setting or credential of Tooldex itself, which is never passed to a tool. */
export const isOwnVariable = (name: string): boolean => name.startsWith('TOOLDEX_') || secretNames.has(name)

/** An environment without the credentials of Tooldex itself. */
export const withoutCredentials = (env: Environment): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !secretNames.has(name)))
