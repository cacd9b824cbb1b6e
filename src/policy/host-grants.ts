import { TooldexError } from '../base/errors.ts'
import { type Problem, toPointer } from '../base/problem.ts'
import type { RunnableTool } from '../contract/executor.ts'
import { allGrants, firstWorkspace, type Grant, type GrantsOf, hostGrants } from '../contract/executor-kinds.ts'
import type { McpServer } from '../contract/mcp-server.ts'
import type { ToolContent } from '../contract/registry.ts'
import { neededGrants } from '../rules/needed-grants.ts'

const none: readonly Grant[] = []
const shape = /^([a-z0-9][a-z0-9-]{0,62})=([a-z,]*)$/

/** Parses `WORKSPACE=GRANT,...` arguments. The first workspace has every grant unless an argument names it; others have none. */
export function readGrants(args: readonly string[]): GrantsOf {
  const grantsByWorkspace = new Map<string, readonly Grant[]>([[firstWorkspace, allGrants]])
  const named = new Set<string>()
  for (const arg of args) {
    const [workspace, grants] = readArgument(arg)
    grantsByWorkspace.set(workspace, [
      ...(named.has(workspace) ? (grantsByWorkspace.get(workspace) ?? none) : none),
      ...grants,
    ])
    named.add(workspace)
  }
  return (workspace) => grantsByWorkspace.get(workspace) ?? none
}

function readArgument(arg: string): readonly [string, readonly Grant[]] {
  const [, workspace, list = ''] = shape.exec(arg) ?? []
  const names = list.split(',').filter((name) => name !== '' && name !== 'none')
  const unknown = names.find((name) => name !== 'all' && !Object.hasOwn(hostGrants, name))
  if (workspace !== undefined && unknown === undefined)
    return [workspace, names.includes('all') ? allGrants : (names as Grant[])]
  const what = workspace === undefined ? `'${arg}' is not WORKSPACE=GRANT,...` : `'${unknown}' is not a grant`
  throw new TooldexError('USAGE', `--grant: ${what}.`, {
    hint: `Use the form team=folders,network. Grants: ${allGrants.join(', ')}, all, none.`,
  })
}

/** The grants that a tool needs and its workspace does not have, as problems. */
export function findUngranted(content: ToolContent, workspace: string, grantsOf: GrantsOf): readonly Problem[] {
  const granted = grantsOf(workspace)
  return neededGrants(content)
    .filter(({ grant }) => !granted.includes(grant))
    .map(({ grant, path }) => ({
      severity: 'error',
      pointer: path.length === 0 ? '/executorType' : toPointer(['executorConfig', ...path]),
      message: `the workspace '${workspace}' may not ${hostGrants[grant]}`,
      hint: hintFor(workspace, grant),
    }))
}

/** The grants of a run; throws if the tool needs one that its workspace does not have. */
export function requireGrants(tool: RunnableTool, workspace: string, grantsOf: GrantsOf): readonly Grant[] {
  const granted = grantsOf(workspace)
  // Tools of configs belong to the operator.
  const missing =
    tool.resolved === undefined ? neededGrants(tool).find(({ grant }) => !granted.includes(grant)) : undefined
  if (missing === undefined) return granted
  const what = hostGrants[missing.grant]
  throw new TooldexError(
    'POLICY_REFUSED',
    `${tool.name} needs to ${what}, which the workspace '${workspace}' may not do.`,
    {
      hint: hintFor(workspace, missing.grant),
    },
  )
}

/** Throws where a workspace lacks a grant that an MCP server needs: a program runs outside of any sandbox. */
export function requireServerGrants(server: McpServer, workspace: string, grantsOf: GrantsOf): void {
  const isProgram = 'command' in server
  const isPrivate = !isProgram && server.allowPrivate
  const needed: readonly Grant[] = [
    'mcp',
    ...(isProgram && server.isolation !== 'isolated' ? ['host' as const] : []),
    ...(isProgram && server.folders?.length ? ['folders' as const] : []),
    ...(isProgram && server.cwd !== undefined && server.isolation === 'isolated' ? ['folders' as const] : []),
    ...(isProgram && server.network ? ['network' as const] : []),
    ...(isPrivate ? ['private' as const] : []),
  ]
  const missing = needed.find((grant) => !grantsOf(workspace).includes(grant))
  if (missing === undefined) return
  throw new TooldexError('FORBIDDEN', `The workspace '${workspace}' may not ${hostGrants[missing]}.`, {
    hint: hintFor(workspace, missing),
  })
}

const hintFor = (workspace: string, grant: Grant): string =>
  `The operator of the host can grant it: tooldex serve --grant ${workspace}=${grant}`
