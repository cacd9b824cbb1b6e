import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where the bundled configs are. */
export const bundledConfigsDir = fileURLToPath(new URL('../../configs/', import.meta.url))

/** Where the build puts the bundled configs as it read them. */
export const builtConfigsDir = fileURLToPath(new URL('../../dist/configs/', import.meta.url))

/** The encoder for search by meaning. */
export const encoderFile = fileURLToPath(new URL('../../model/encoder.bin', import.meta.url))

/** The vocabulary that tokens are counted in. */
export const tokenRanksFile = fileURLToPath(new URL('../../model/cl100k_base.br', import.meta.url))

/** The steps of the database schema. */
export const migrationsDir = fileURLToPath(new URL('../../migrations/', import.meta.url))

/** Where the build puts a database with nothing in it. */
export const emptyDatabaseDir = fileURLToPath(new URL('../../dist/empty-database/', import.meta.url))

/** Example tools, kept as files. */
export const exampleToolsDir = fileURLToPath(new URL('../../examples/registry/', import.meta.url))

/** What is sent to browsers. */
export const pagesDir = fileURLToPath(new URL('../../pages/', import.meta.url))

/** The guide that teaches an agent to write configs. */
export const skillFile = fileURLToPath(new URL('../../skill/SKILL.md', import.meta.url))

/** The version in package.json. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return (manifest as { version: string }).version
}
