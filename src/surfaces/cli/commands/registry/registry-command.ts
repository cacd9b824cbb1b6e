import type { Command } from 'commander'
import type * as z from 'zod'
import type { RegisteredTool } from '../../../../contract/registry.ts'
import type { Operation } from '../../../../operations/operation.ts'
import type { CliHost, RegistryClient } from '../../host.ts'
import { toJson } from '../command.ts'

/** The options of every command that works on the registry. */
export interface RegistryFlags {
  readonly server?: string
  readonly json?: boolean
}

/** Where the registry is, and how the answer is wanted. */
export function withRegistryOptions(command: Command): Command {
  return command
    .option('--server <url>', 'ask this server; the one that runs here, or the database itself, if left out')
    .option('--json', 'print JSON for programs')
}

/** Does one operation and prints what it gave: as JSON, or as text for people. */
export async function printOperation<Input extends z.ZodType, Output extends z.ZodType>(
  host: CliHost,
  flags: RegistryFlags,
  {
    operation,
    input,
    text,
  }: {
    operation: Operation<Input, Output>
    input: Record<string, unknown>
    text: (answer: z.output<Output>) => string
  },
): Promise<void> {
  const answer = await withRegistry(host, flags, (registry) => registry.invoke(operation, input))
  host.out(flags.json ? toJson(answer) : text(answer))
}

/** Opens the registry for as long as some work takes. */
export async function withRegistry<Result>(
  host: CliHost,
  { server }: RegistryFlags,
  work: (registry: RegistryClient) => Promise<Result>,
): Promise<Result> {
  const registry = await host.openRegistry(server)
  try {
    return await work(registry)
  } finally {
    await registry.close()
  }
}

/** The options that were given, without those that were not. */
export const given = (options: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

/** What a tool is after a change, in one line. */
export const said = ({ name, status, version }: RegisteredTool): string => `${name} is ${status}, version ${version}.\n`
