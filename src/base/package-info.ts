import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the bundled configs. */
export const bundledConfigsDir = fileURLToPath(new URL('../../configs/', import.meta.url))

/** The folder of the bundled configs as parsed by the build. */
export const builtConfigsDir = fileURLToPath(new URL('../../dist/configs/', import.meta.url))

/** The encoder of semantic search. */
export const encoderFile = fileURLToPath(new URL('../../model/encoder.bin', import.meta.url))

/** The vocabulary of the token counter. */
export const tokenRanksFile = fileURLToPath(new URL('../../model/cl100k_base.br', import.meta.url))

/** The migrations of the database schema. */
export const migrationsDir = fileURLToPath(new URL('../../migrations/', import.meta.url))

/** The folder of the empty database made by the build. */
export const emptyDatabaseDir = fileURLToPath(new URL('../../dist/empty-database/', import.meta.url))

/** Example tools as files. */
export const exampleToolsDir = fileURLToPath(new URL('../../examples/registry/', import.meta.url))

/** The built web console. */
export const consoleDir = fileURLToPath(new URL('../../dist/web/', import.meta.url))

/** The static files for browsers. */
export const pagesDir = fileURLToPath(new URL('../../pages/', import.meta.url))

/** The examples of the OpenAPI document, recorded by `npm run docs`. */
export const apiExamplesFile = fileURLToPath(new URL('../../docs/reference/examples.json', import.meta.url))

/** The guide that teaches an agent to write configs. */
export const skillFile = fileURLToPath(new URL('../../skill/SKILL.md', import.meta.url))

/** The version in package.json. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return (manifest as { version: string }).version
}
