import type { Command } from 'commander'
import { formatProblem, type Problem } from '../../../../base/problem.ts'
import type { RegisteredTool } from '../../../../contract/registry.ts'
import type { WrittenTool } from '../../../../operations/registry/written-tool.ts'
import type { CliHost, RegistryClient } from '../../host.ts'

/** The options of every command that works on the registry. */
export interface RegistryFlags {
  readonly server?: string
  readonly json?: boolean
}

/** Adds the options for the server and for JSON. */
export function withRegistryOptions(command: Command): Command {
  return command
    .option('--server <url>', 'use the registry of this server (default: the local server, or the database itself)')
    .option('--json', 'print JSON')
}

/** Opens the registry, runs the work and closes the registry. */
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

/** The options without those that are undefined. */
export const definedOptions = (options: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

/** The state of a tool after a change, in one line. */
export const toolStateText = ({ name, status, version }: RegisteredTool): string =>
  `${name} is ${status}, version ${version}.\n`

/** The response to a write. */
export type WithWarnings = Pick<WrittenTool, 'warnings'>

/** Prints the warnings that a write returned, such as a server that cannot be reached now. */
export function printWarnings(
  host: CliHost,
  { warnings = [] }: WithWarnings,
  locate: (problem: Problem) => Problem = (problem) => problem,
): void {
  for (const warning of warnings as readonly Problem[]) host.err(findingText(locate(warning)))
}

/** A problem in one line. */
export function findingText(problem: Problem): string {
  const { severity, file, pointer, line, column, message } = problem
  if (file !== undefined || line === undefined) return `${severity}: ${formatProblem(problem)}\n`
  const location = `line ${line}${column === undefined ? '' : `, column ${column}`}: `
  return `${severity}: ${formatProblem({ ...problem, pointer: pointer ?? '', message: location + message })}\n`
}
