import { existsSync } from 'node:fs'
import { TooldexError } from '../../base/errors.ts'
import { type Environment, expandVariables } from '../../base/expand-variables.ts'
import { isOwnVariable } from '../../base/own-variables.ts'
import { formatProblem, type Problem } from '../../base/problem.ts'
import { describedParse, describeIssue } from '../../diagnostics/zod-issues.ts'
import { parseJsonOrYaml } from '../../documents/json-document.ts'
import { readTextFile } from '../../documents/read-text-file.ts'
import type { YamlDocument } from '../../documents/yaml-document.ts'
import { type McpServer, schemaFor } from './server-settings.ts'

/** Which file names the servers, and whether somebody asked for that one. */
export interface ServersFile {
  readonly path: string
  readonly required: boolean
}

/** Reads the MCP servers that tools may name; a file that nobody asked for may be missing. */
export function loadServers({ path, required }: ServersFile, env: Environment): ReadonlyMap<string, McpServer> {
  if (!required && !existsSync(path)) return new Map()
  const given = Object.fromEntries(Object.entries(env).filter(([name]) => !isOwnVariable(name)))
  const document = parseJsonOrYaml(readTextFile(path), path)
  const problems: Problem[] = [...document.problems]
  const servers = new Map<string, McpServer>()
  const say = (place: readonly PropertyKey[], message: string, hint?: string): void => {
    problems.push({ severity: 'error', file: path, ...document.locate(place), message, ...(hint && { hint }) })
  }
  for (const [name, definition] of definitionsIn(document, say)) {
    const server = read(definition, ['mcpServers', name], { env: given, say })
    if (server !== undefined) servers.set(name, server)
  }
  if (problems.some(({ severity }) => severity === 'error')) throw refuse(path, problems)
  return servers
}

type Say = (place: readonly PropertyKey[], message: string, hint?: string) => void

function definitionsIn({ value, problems }: YamlDocument, say: Say): [string, unknown][] {
  if (problems.some(({ severity }) => severity === 'error')) return []
  const servers = isObject(value) ? value.mcpServers : undefined
  if (isObject(servers)) return Object.entries(servers)
  say([], 'there are no mcpServers in it', 'such as { "mcpServers": { "notes": { "command": "notes-mcp" } } }')
  return []
}

function read(
  definition: unknown,
  place: readonly PropertyKey[],
  { env, say }: { readonly env: Environment; readonly say: Say },
): McpServer | undefined {
  if (isObject(definition) && definition.type === 'sse') {
    say([...place, 'type'], 'the older SSE transport is not spoken', 'give the address for "type": "http"')
    return undefined
  }
  const filled = fill(definition, place, { env, say })
  const parsed = schemaFor(filled).safeParse(filled, describedParse)
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) {
    const { message, hint } = describeIssue(issue)
    say([...place, ...issue.path], message, hint)
  }
  return undefined
}

/** Fills variables into every text; only the braced forms, as clients do. */
function fill(
  value: unknown,
  place: readonly PropertyKey[],
  means: { readonly env: Environment; readonly say: Say },
): unknown {
  if (typeof value === 'string') {
    const { text, missing } = expandVariables(value, means.env, 'braced')
    for (const name of missing) means.say(place, ...sayMissing(name))
    return text
  }
  if (Array.isArray(value)) return value.map((each, index) => fill(each, [...place, index], means))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fill(each, [...place, name], means)]))
}

const sayMissing = (name: string): [string, string] =>
  isOwnVariable(name)
    ? [`the variable ${name} is the server's own and given to nobody`, 'name another one']
    : [`the variable ${name} is not set`, `set it, or write \${${name}:-}`]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const refuse = (path: string, problems: readonly Problem[]): TooldexError =>
  new TooldexError('CONFIG_INVALID', `${path} cannot be used: ${problems.slice(0, 5).map(formatProblem).join('; ')}.`, {
    hint: 'Mend the places named, then start again.',
    problems,
  })
