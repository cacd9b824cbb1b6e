import type { Command } from 'commander'
import type * as z from 'zod'
import { TooldexError } from '../../../base/errors.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { Operation } from '../../../operations/operation.ts'
import type { CliHost, RegistryClient } from '../host.ts'
import { type ToolOptions, toOpenOptions } from './command.ts'
import { withRegistry } from './registry/registry-command.ts'

/** The options of a command that reads tools, locally or from a server. */
export interface ServerFlags extends ToolOptions {
  readonly server?: string
}

/** One operation on tools. */
interface ToolQuery<Input extends z.ZodType, Output extends z.ZodType> {
  readonly operation: Operation<Input, Output>
  readonly input: Record<string, unknown>
  /** Whether the result combines the tools of local configs and of the registry. */
  readonly combined?: boolean
}

/** Adds --server, for commands that otherwise work on the tools of configs. */
export const withServerOption = (command: Command): Command =>
  command.option(
    '--server <url>',
    'use the tools of this server (default: TOOLDEX_URL, or the local server together with the local configs)',
  )

/** Runs an operation on the named server, or else on the local configs, together with the local registry. */
export async function queryTools<Input extends z.ZodType, Output extends z.ZodType>(
  host: CliHost,
  flags: ServerFlags,
  { operation, input, combined = false }: ToolQuery<Input, Output>,
): Promise<z.output<Output>> {
  const open = async () => ({ ...(await host.open(toOpenOptions(flags))), signal: host.signal })
  const isNamed = flags.server !== undefined || host.findServer()?.named === true
  const work = async (registry: RegistryClient) => {
    if (!combined || isNamed) return registry.invoke(operation, input)
    const { combineClients } = await import('../../../operations/registry-client/combine-clients.ts')
    return combineClients({ context: await open(), registry, prefer: 'registry' }).invoke(operation, input)
  }
  const answer = combined ? await queryRegistry(host, flags, work) : await queryServer(host, flags, work)
  return answer === undefined ? invoke(operation, input, await open()) : answer.value
}

/** Queries the server, if any, or else the local database; undefined if configs or a policy are named. */
export async function queryRegistry<Result>(
  host: CliHost,
  flags: ServerFlags,
  work: (registry: RegistryClient, where: string) => Promise<Result>,
): Promise<{ readonly value: Result } | undefined> {
  const isServer = flags.server !== undefined || host.findServer() !== undefined
  if (isServer || isLocal(flags) || !host.registryExists())
    return queryServer(host, flags, (registry, url) => work(registry, `at ${url}`))
  return { value: await withRegistry(host, {}, (registry) => work(registry, 'in the local database')) }
}

/** Queries the server, if any; undefined if configs or a policy are named. */
export async function queryServer<Result>(
  host: CliHost,
  flags: ServerFlags,
  work: (registry: RegistryClient, url: string) => Promise<Result>,
): Promise<{ readonly value: Result } | undefined> {
  const { server } = flags
  rejectServerWithLocal(flags)
  if (server !== undefined) return { value: await withRegistry(host, flags, (registry) => work(registry, server)) }
  const found = isLocal(flags) ? undefined : host.findServer()
  if (found === undefined) return undefined
  if (!found.named && found.key === undefined) return void host.err(withoutKey(found.url))
  try {
    return { value: await withRegistry(host, { server: found.url }, (registry) => work(registry, found.url)) }
  } catch (thrown) {
    // A command does not fail because of a server that was not named.
    if (found.named || !isUnreachable(thrown)) throw thrown
    return void host.err(`${thrown.message} Only local configs are used.\n`)
  }
}

const isUnreachable = (thrown: unknown): thrown is TooldexError =>
  thrown instanceof TooldexError && (thrown.code === 'UNAVAILABLE' || thrown.code === 'UNAUTHORIZED')

const withoutKey = (url: string) =>
  `Only local configs are used. Set TOOLDEX_API_KEY to include the tools of the server at ${url}.\n`

/** Whether local configs or a local policy are named. */
export const isLocal = ({
  config,
  policy,
}: Pick<ServerFlags, 'policy'> & { readonly config?: readonly string[] }): boolean =>
  config !== undefined || policy !== undefined

/** Rejects a server together with local configs or a local policy. */
export function rejectServerWithLocal(
  flags: Omit<ServerFlags, 'config'> & { readonly config?: readonly string[] },
): void {
  if (flags.server === undefined || !isLocal(flags)) return
  throw new TooldexError('USAGE', '--server cannot be combined with configs or --policy: a server has its own.', {
    hint: 'Omit --server, or omit the configs and the policy.',
  })
}
