import { processEnv } from '../rules/settings.ts'
import type { toMethods } from '../surfaces/library/registry-methods.ts'

/** The registry of a database, as methods. */
export type OpenRegistry = ReturnType<typeof toMethods>

/** The database to open; that of the environment if absent. */
export interface RegistryOptions {
  /** The folder of the embedded database: `TOOLDEX_HOME`. */
  readonly home?: string | undefined
  /** The URL of a PostgreSQL database: `DATABASE_URL`. */
  readonly databaseUrl?: string | undefined
  /** Whether `tools.execute` runs programs (`tooldex:run_code`); off if absent. */
  readonly codeMode?: boolean | undefined
}

/** Opens and migrates a database in this process; its modules are loaded only here. */
export async function openRegistry({ home, databaseUrl, codeMode }: RegistryOptions = {}): Promise<OpenRegistry> {
  const [{ openOwnRegistry }, library] = await Promise.all([
    import('./open-own-registry.ts'),
    import('../surfaces/library/registry-methods.ts'),
  ])
  const env = {
    ...processEnv,
    ...(home === undefined ? {} : { TOOLDEX_HOME: home, DATABASE_URL: undefined }),
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  }
  const ending = new AbortController()
  return library.toMethods(await openOwnRegistry(ending.signal, { env, codeMode }), ending)
}
