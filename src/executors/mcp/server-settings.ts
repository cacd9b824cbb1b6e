import { existsSync } from 'node:fs'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { type Environment, expandVariables } from '../../base/expand-variables.ts'
import { isObject } from '../../base/json-values.ts'
import { formatProblem, type Problem, toPointer } from '../../base/problem.ts'
import { suggest } from '../../base/suggest.ts'
import { TimeoutMs } from '../../contract/executor-kinds.ts'
import { HttpServer, type McpServer, type McpServerInput, StdioServer } from '../../contract/mcp-server.ts'
import type { SecretScope } from '../../contract/secret.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import { describedParse, describeZodIssue } from '../../diagnostics/zod-issues.ts'
import { parseJsonOrYaml } from '../../documents/json-document.ts'
import { readTextFile } from '../../documents/read-text-file.ts'
import type { YamlDocument } from '../../documents/yaml-document.ts'
import { findSecretReference } from '../../rules/server-definition.ts'
import { isOwnVariable } from '../../rules/settings.ts'
import { defineConfigCheck, WorkerLabel } from '../read-config.ts'

/** The schema of a definition, chosen by its fields. */
export function schemaFor(definition: unknown): z.ZodType<McpServer> {
  const { command, type } = (definition ?? {}) as { command?: unknown; type?: unknown }
  return command !== undefined || type === 'stdio' ? StdioServer : HttpServer
}

export const isStdio = (server: McpServer): server is StdioServer => 'command' in server

/** The values of variables or headers; secrets are resolved when a server is started, and never stored. */
export async function resolveValues(
  values: Readonly<Record<string, string>>,
  secrets: Pick<SecretScope, 'resolve'>,
): Promise<Record<string, string>> {
  const resolved = Object.entries(values).map(async ([name, value]) => {
    const found = findSecretReference(value)
    return [name, found === undefined ? value : found.before + (await secrets.resolve(found.reference))] as const
  })
  return Object.fromEntries(await Promise.all(resolved))
}

/** The server and the tool that an MCP tool refers to. */
export const McpConfig = z.strictObject({
  server: z.string().trim().min(1).max(200),
  tool: z.string().trim().min(1).max(200),
  timeoutMs: TimeoutMs.optional(),
  worker: WorkerLabel.optional(),
})
export type McpConfig = z.infer<typeof McpConfig>

/** Validates the config of an MCP tool. */
export const checkMcpConfig = defineConfigCheck(McpConfig, () => [])

/** The file with the server definitions; `required` if it was configured explicitly. */
export interface ServersFile {
  readonly path: string
  readonly required: boolean
}

/** Loads the MCP servers that tools may refer to; the default file may be missing. */
export function loadServers({ path, required }: ServersFile, env: Environment): ReadonlyMap<string, McpServer> {
  if (!required && !existsSync(path)) return new Map()
  const available = withoutOwn(env)
  const document = parseJsonOrYaml(readTextFile(path), path)
  const problems: Problem[] = [...document.problems]
  const servers = new Map<string, McpServer>()
  const report = (location: readonly PropertyKey[], message: string, hint?: string): void => {
    problems.push({ severity: 'error', file: path, ...document.locate(location), message, ...(hint && { hint }) })
  }
  for (const [name, definition] of definitionsIn(document, report)) {
    const server = read(definition, ['mcpServers', name], { env: available, report })
    if (server !== undefined) servers.set(name, server)
  }
  if (problems.some(({ severity }) => severity === 'error')) throw refuse(path, problems)
  return servers
}

/** The servers of `mcpServers` entries that a program passes, with the rules of the file. */
export function readServers(
  definitions: Readonly<Record<string, McpServerInput>>,
  env: Environment,
): ReadonlyMap<string, McpServer> {
  const problems: Problem[] = []
  const report: Report = (path, message, hint) => {
    problems.push({ severity: 'error', pointer: toPointer(path), message, ...(hint && { hint }) })
  }
  const servers = new Map<string, McpServer>()
  for (const [name, definition] of Object.entries(definitions)) {
    if (!/^[^:\s]{1,100}$/u.test(name))
      report(['servers', name], 'the name of a server must not contain colons or white space')
    const server = read(definition, ['servers', name], { env: withoutOwn(env), report })
    if (server !== undefined) servers.set(name, server)
  }
  if (problems.length > 0) throw toProblemError({ code: 'CONFIG_INVALID', what: 'The servers', problems })
  return servers
}

const withoutOwn = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !isOwnVariable(name)))

type Report = (path: readonly PropertyKey[], message: string, hint?: string) => void

function definitionsIn({ value, problems }: YamlDocument, report: Report): [string, unknown][] {
  if (problems.some(({ severity }) => severity === 'error')) return []
  const servers = isObject(value) ? value.mcpServers : undefined
  if (isObject(servers)) return Object.entries(servers)
  report(
    [],
    'the file has no mcpServers',
    'add them, such as { "mcpServers": { "notes": { "command": "notes-mcp" } } }',
  )
  return []
}

function read(
  definition: unknown,
  path: readonly PropertyKey[],
  { env, report }: { readonly env: Environment; readonly report: Report },
): McpServer | undefined {
  if (isObject(definition) && definition.command === undefined && definition.url === undefined) {
    const written = Object.keys(definition)
    const near = ['command', 'url'].find((key) => suggest(key, written) !== undefined)
    report(path, 'command or url is required', near && `did you mean '${near}' instead of '${suggest(near, written)}'?`)
    return undefined
  }
  const filled = fill(definition, path, { env, report })
  const parsed = schemaFor(filled).safeParse(filled, describedParse)
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) {
    const { message, hint } = describeZodIssue(issue)
    report([...path, ...issue.path], message, hint)
  }
  return undefined
}

/** Expands variables in every string; only the braced forms, as clients do. */
function fill(
  value: unknown,
  path: readonly PropertyKey[],
  options: { readonly env: Environment; readonly report: Report },
): unknown {
  if (typeof value === 'string') {
    const { text, missing } = expandVariables(value, options.env, 'braced')
    for (const name of missing) options.report(path, ...missingVariable(name))
    return text
  }
  if (Array.isArray(value)) return value.map((each, index) => fill(each, [...path, index], options))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fill(each, [...path, name], options)]))
}

const missingVariable = (name: string): [string, string] =>
  isOwnVariable(name)
    ? [`the variable ${name} belongs to Tooldex and is not available to servers`, 'use another variable']
    : [`the variable ${name} is not set`, `set it, or use \${${name}:-}`]

const refuse = (path: string, problems: readonly Problem[]): TooldexError =>
  new TooldexError('CONFIG_INVALID', `${path} cannot be used: ${problems.slice(0, 5).map(formatProblem).join('; ')}.`, {
    hint: 'Fix the listed problems.',
    problems,
  })
