import { TooldexError } from '../base/errors.ts'
import { type Problem, toPointer } from '../base/problem.ts'
import type { RunnableTool } from '../contract/executor.ts'
import { allGrants, firstWorkspace, type Grant, type GrantsOf, hostGrants, neededGrants } from '../contract/grants.ts'
import type { ToolContent } from '../contract/registry.ts'

const none: readonly Grant[] = []
const shape = /^([a-z0-9][a-z0-9-]{0,62})=([a-z,]*)$/

/** Reads `WORKSPACE=GRANT,...` words. The first workspace has every grant where no word names it; another has none. */
export function readGrants(words: readonly string[]): GrantsOf {
  const given = new Map<string, readonly Grant[]>([[firstWorkspace, allGrants]])
  const named = new Set<string>()
  for (const word of words) {
    const [workspace, grants] = readWord(word)
    given.set(workspace, [...(named.has(workspace) ? (given.get(workspace) ?? none) : none), ...grants])
    named.add(workspace)
  }
  return (workspace) => given.get(workspace) ?? none
}

function readWord(word: string): readonly [string, readonly Grant[]] {
  const [, workspace, list = ''] = shape.exec(word) ?? []
  const names = list.split(',').filter((name) => name !== '' && name !== 'none')
  const unknown = names.find((name) => name !== 'all' && !(name in hostGrants))
  if (workspace !== undefined && unknown === undefined)
    return [workspace, names.includes('all') ? allGrants : (names as Grant[])]
  const what = workspace === undefined ? `'${word}' is not WORKSPACE=GRANT,...` : `'${unknown}' is not a grant`
  throw new TooldexError('USAGE', `--grant: ${what}.`, {
    hint: `Write it like team=folders,network. Grants: ${allGrants.join(', ')}, all, none.`,
  })
}

/** The parts of the host that a tool asks for and its workspace was not granted. */
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

/** The grants that a run of a tool has; refused where the tool needs one that its workspace was not granted. */
export function requireGrants(tool: RunnableTool, workspace: string, grantsOf: GrantsOf): readonly Grant[] {
  const granted = grantsOf(workspace)
  // A tool of a config is the operator's own.
  const missing =
    tool.resolved === undefined ? neededGrants(tool).find(({ grant }) => !granted.includes(grant)) : undefined
  if (missing === undefined) return granted
  const what = hostGrants[missing.grant]
  throw new TooldexError('POLICY_REFUSED', `${tool.name} would ${what}, which the workspace '${workspace}' may not.`, {
    hint: hintFor(workspace, missing.grant),
  })
}

const hintFor = (workspace: string, grant: Grant): string =>
  `The operator of the host can grant it: tooldex serve --grant ${workspace}=${grant}`
