import type { Command } from 'commander'
import type * as z from 'zod'
import { TooldexError } from '../../../base/errors.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { Operation } from '../../../operations/operation.ts'
import type { CliHost, RegistryClient } from '../host.ts'
import { type ToolOptions, toOpenOptions } from './command.ts'
import { withRegistry } from './registry/registry-command.ts'

/** The options of a command that reads tools, here or at a server. */
export interface ServerFlags extends ToolOptions {
  readonly server?: string
}

/** One operation on tools. */
interface Question<Input extends z.ZodType, Output extends z.ZodType> {
  readonly operation: Operation<Input, Output>
  readonly input: Record<string, unknown>
  /** Whether the answer is about the tools of configs here and of the registry together. */
  readonly combined?: boolean
}

/** For commands that work on the tools of configs where there is no server. */
export const withServerOption = (command: Command): Command =>
  command.option(
    '--server <url>',
    'use the tools of this server; TOOLDEX_URL, or those of the one that runs here besides the configs here, if left out',
  )

/** Asks the server that is named; else the tools of configs here, together with those of the registry here. */
export async function ask<Input extends z.ZodType, Output extends z.ZodType>(
  host: CliHost,
  flags: ServerFlags,
  { operation, input, combined = false }: Question<Input, Output>,
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

/** Asks the server, if there is one, or else the database here; configs or a policy that are named are those here. */
export async function queryRegistry<Result>(
  host: CliHost,
  flags: ServerFlags,
  work: (registry: RegistryClient, where: string) => Promise<Result>,
): Promise<{ readonly value: Result } | undefined> {
  const isServer = flags.server !== undefined || host.findServer() !== undefined
  if (isServer || isLocal(flags) || !host.hasRegistry())
    return queryServer(host, flags, (registry, url) => work(registry, `at ${url}`))
  return { value: await withRegistry(host, {}, (registry) => work(registry, 'in the database here')) }
}

/** Asks the server, if there is one to ask; configs or a policy that are named are those here. */
export async function queryServer<Result>(
  host: CliHost,
  flags: ServerFlags,
  work: (registry: RegistryClient, url: string) => Promise<Result>,
): Promise<{ readonly value: Result } | undefined> {
  const { server } = flags
  refuseBoth(flags)
  if (server !== undefined) return { value: await withRegistry(host, flags, (registry) => work(registry, server)) }
  const found = isLocal(flags) ? undefined : host.findServer()
  if (found === undefined) return undefined
  if (!found.named && found.key === undefined) return void host.err(withoutKey(found.url))
  try {
    return { value: await withRegistry(host, { server: found.url }, (registry) => work(registry, found.url)) }
  } catch (thrown) {
    // A server that nobody named is no reason to fail.
    if (found.named || !isUnreachable(thrown)) throw thrown
    return void host.err(`${thrown.message} Only the configs here are looked at.\n`)
  }
}

const isUnreachable = (thrown: unknown): thrown is TooldexError =>
  thrown instanceof TooldexError && (thrown.code === 'UNAVAILABLE' || thrown.code === 'UNAUTHORIZED')

const withoutKey = (url: string) =>
  `Set TOOLDEX_API_KEY to see the tools of the server at ${url} too; only the configs here are looked at.\n`

/** Whether configs or a policy of this machine are meant. */
export const isLocal = ({
  config,
  policy,
}: Pick<ServerFlags, 'policy'> & { readonly config?: readonly string[] }): boolean =>
  config !== undefined || policy !== undefined

/** Refuses a server together with what only this machine has. */
export function refuseBoth(flags: Omit<ServerFlags, 'config'> & { readonly config?: readonly string[] }): void {
  if (flags.server === undefined || !isLocal(flags)) return
  throw new TooldexError('USAGE', 'A server has configs and a policy of its own.', {
    hint: 'Leave out --server, or the configs and the policy.',
  })
}
