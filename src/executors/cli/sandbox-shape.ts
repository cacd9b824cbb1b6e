import { TooldexError } from '../../base/errors.ts'
import type { Job, RunnableTool } from '../../contract/executor.ts'
import { type AllowedFolder, folderOf } from '../sandbox/allowed-folders.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { allowHint, resolveExisting } from '../sandbox/visible-program.ts'

/** The visible folders of a job: the root of its config if it has one, else all allowed folders. */
export function visibleFolders(
  name: string,
  grants: Job['grants'],
  sandbox: Sandbox,
  root?: string,
): readonly AllowedFolder[] {
  const allowed = grants === undefined || grants.includes('folders') ? sandbox.folders : []
  if (root === undefined) return allowed
  const path = resolveExisting(root) ?? root
  const folder = folderOf(path, allowed)
  if (folder !== undefined) return [{ path, writable: folder.writable }]
  throw new TooldexError('POLICY_REFUSED', `${name} works in ${root}, which is not visible to tools on this server.`, {
    hint: allowHint(root),
  })
}

/** Whether a run has network access: where it is not allowed, a tool of a config runs without, and any other tool is rejected. */
export function networkOf(tool: RunnableTool, sandbox: Sandbox): boolean {
  if (tool.resolved !== undefined) return tool.resolved.tool.network === true && sandbox.allowsNetwork
  return sandbox.networkFor(tool.name, tool.executorConfig.network as boolean | undefined)
}
