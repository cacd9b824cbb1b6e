import type { Environment } from './expand-variables.ts'

const credentials = new Set([
  'DATABASE_URL',
  'PGPASSWORD',
  'TOOLDEX_API_KEY',
  'TOOLDEX_SECRET_KEY',
  'TOOLDEX_EMBEDDINGS_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
])

/** Whether a variable is a setting or credential of Tooldex itself, which is never passed to a tool. */
export const isOwnVariable = (name: string): boolean => name.startsWith('TOOLDEX_') || credentials.has(name)

/** An environment without the credentials of Tooldex itself. */
export const withoutCredentials = (env: Environment): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !credentials.has(name)))
