import type { Command } from 'commander'
import { TooldexError } from '../../../../base/errors.ts'
import { getToolset } from '../../../../operations/registry/toolsets.ts'
import { readServerJson } from '../../../../operations/sources/server-json/read-server-json.ts'
import { type RegistryServer, toRegistryServer } from '../../../../operations/sources/server-json/to-server-input.ts'
import { writeServerJson } from '../../../../operations/sources/server-json/write-server-json.ts'
import type { CliHost } from '../../host.ts'
import { readText } from '../../read-tool-file.ts'
import { toJson } from '../command.ts'
import { type RegistryFlags, withRegistry, withRegistryOptions } from './registry-command.ts'

/** The beginning of a word that names a `server.json`: `registry:FILE`. */
const prefix = 'registry:'

/** The values that the command line provides for a `server.json`. */
interface RegistryValues {
  readonly set?: readonly string[] | undefined
  readonly package?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The file of `registry:FILE` as the only word, or undefined. */
export const registryFileOf = (words: readonly string[]): string | undefined =>
  words.length === 1 && words[0]?.startsWith(prefix) ? words[0].slice(prefix.length) : undefined

/** The server of a `server.json`, with the values of the command line. */
export function readRegistryFile(
  file: string,
  { set = [], package: wanted, env, headers }: RegistryValues,
): RegistryServer {
  const values = new Map<string, readonly string[]>()
  for (const pair of set) {
    const at = pair.indexOf('=')
    // The value may be a secret.
    if (at < 1) throw new TooldexError('USAGE', 'An option is not of the form --set NAME=VALUE.')
    const name = pair.slice(0, at)
    values.set(name, [...(values.get(name) ?? []), pair.slice(at + 1)])
  }
  const document = readServerJson(readText(file), file)
  return toRegistryServer(document, { file, package: wanted, set: values, env: env ?? {}, headers: headers ?? {} })
}

interface ExportFlags extends RegistryFlags {
  readonly toolset?: string
  readonly name?: string
  readonly release: string
}

/** `tooldex export server-json`: the entry of a toolset in the MCP registry. */
export function addExportServerJson(group: Command, host: CliHost): void {
  const command = group
    .command('server-json')
    .description('print the server.json of a toolset of a server, for the MCP registry')
    .option('--toolset <name>', 'the toolset (default: all tools)')
    .option('--name <name>', 'its name in the registry, such as com.example/weather (default: by the host of --server)')
    .option('--release <version>', 'its version', '1.0.0')
  withRegistryOptions(command).action(async ({ server, toolset, name, release }: ExportFlags) => {
    if (server === undefined || !URL.canParse(server))
      throw new TooldexError('USAGE', 'server.json needs the URL by which clients reach the server.', {
        hint: 'Write: --server https://tools.example.com',
      })
    const found =
      toolset === undefined
        ? undefined
        : await withRegistry(host, { server }, (registry) => registry.invoke(getToolset, { name: toolset }))
    host.out(toJson(writeServerJson({ server, toolset: found, name, version: release })))
  })
}
