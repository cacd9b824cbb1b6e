import { mustExist, TooldexError } from '../../base/errors.ts'
import { omitUndefined, sameJson } from '../../base/json-values.ts'
import type { Problem } from '../../base/problem.ts'
import {
  type RegisteredTool,
  type ToolChange,
  type ToolContent,
  ToolContent as ToolContentSchema,
} from '../../contract/registry.ts'
import type { SecretBox } from '../../contract/secret.ts'
import type { Stores } from '../../contract/stores.ts'
import { below, hasErrors } from '../../diagnostics/finding.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import { findNamedTool, idOfRegistered, toolInVersion } from '../catalog/resolve-name.ts'
import { diffToolInThread } from '../checks/tool-threads.ts'
import type { CallerContext, OperationContext, ToolContext } from '../operation.ts'
import { readableNames } from '../search/tool-view.ts'

/** The caller for whom a tool is checked. */
type CheckContext = Pick<CallerContext, 'caller' | 'scopes' | 'signal'> & {
  /** Whether to prepare the host for calls, because the tool is about to be offered. */
  readonly prepare?: boolean
}

/** The stores of tools, and the check of tools. */
export interface Registry {
  readonly stores: Stores
  /** Encrypts secrets; absent where none can be stored. */
  readonly box?: SecretBox | undefined
  /** Errors and warnings of a tool for a caller; an upstream server is started or contacted only for the scope 'write'. */
  readonly check: (content: ToolContent, context: CheckContext) => Promise<readonly Problem[]>
}

/** A tool that must exist; `name@3` is its version 3. */
export async function findRegistered(context: ToolContext, idOrName: string): Promise<RegisteredTool> {
  const found = await findNamedTool(context, idOrName)
  const readable = found === undefined ? undefined : await readableNames(context)
  if (found === undefined || readable?.has(found.registered.name) === false)
    throw new TooldexError('TOOL_NOT_FOUND', `Unknown tool: ${idOrName.slice(0, 200)}.`)
  return toolInVersion(context, found.registered, found.version)
}

/** The store name of a tool to change; a version is immutable and rejected. */
export async function nameToChange(context: OperationContext<'registry'>, idOrName: string): Promise<string> {
  if (!/[:@]/.test(idOrName)) return idOrName
  const found = await findNamedTool(context, idOrName)
  const { registered: tool, version } = mustExist(found, 'tool', idOrName, 'TOOL_NOT_FOUND')
  if (version === undefined) return tool.id
  throw new TooldexError('INPUT_INVALID', `${idOrName} is a single version, and a version cannot be changed.`, {
    hint: `Leave the version out: ${idOfRegistered(tool)}`,
  })
}

/** The tool of a change with an invalid shape, so that the rest of the change can be validated against it. */
export async function findToValidate(
  context: OperationContext<'catalog' | 'registry'>,
  idOrName: string,
): Promise<RegisteredTool | undefined> {
  try {
    return await findRegistered(context, await nameToChange(context, idOrName))
  } catch (thrown) {
    if (thrown instanceof TooldexError) return undefined
    throw thrown
  }
}

/** Checks a tool within the permissions of the caller: only the scope 'write' may start programs of upstream servers. */
export const checkContent = (
  context: OperationContext<'registry'> & CheckContext,
  content: ToolContent,
): Promise<readonly Problem[]> => context.registry.check(content, context)

/** Rejects an invalid tool with all its problems, below its pointer in the input; returns the warnings of a valid one. */
export async function refuseInvalidTool(
  context: OperationContext<'registry'> & CheckContext,
  content: ToolContent,
  at = '',
): Promise<readonly Problem[]> {
  const found = await checkContent(context, content)
  if (!hasErrors(found)) return found
  throw toProblemError({ code: 'TOOL_INVALID', what: `The tool ${content.name}`, problems: below(at, found) })
}

/** Only administrators may set code that runs on this machine: a new tool, another type, script or command. */
export async function refuseCodeWithoutAdmin(
  { scopes }: OperationContext,
  before: ToolContent | undefined,
  after: ToolContent,
): Promise<void> {
  if (scopes.has('admin')) return
  // An HTTP request runs nothing here; but only administrators may choose its secrets and let it reach the private network.
  if (
    after.executorType === 'http' &&
    after.executorConfig.auth === undefined &&
    after.executorConfig.allowPrivate !== true
  )
    return
  const parts = ['executorType', 'executorConfig', 'scriptContent'] as const
  const isSame = before !== undefined && parts.every((part) => sameJson(before[part], after[part]))
  if (isSame && !(await isLoosened(before, after))) return
  throw new TooldexError(
    'FORBIDDEN',
    `Setting what a tool of type '${after.executorType}' runs needs the scope 'admin'.`,
  )
}

/**
 * The input of a command is part of its behavior: without the scope 'admin' only the wording of its input schema may
 * change.
 */
async function isLoosened(before: ToolContent, after: ToolContent): Promise<boolean> {
  if (sameJson(before.inputSchema, after.inputSchema)) return false
  const change = (await diffToolInThread(before, after)).fields.find(({ field }) => field === 'inputSchema')
  return change !== undefined && change.class !== 'wording'
}

const contentKeys = Object.keys(ToolContentSchema.shape) as readonly (keyof ToolContent)[]

/** The fields of a tool that its versions store. */
export const contentFields = (tool: ToolContent): ToolContent =>
  Object.fromEntries(contentKeys.map((key) => [key, tool[key]])) as ToolContent

/** A tool with some fields changed; undefined fields stay. */
export const withChange = (tool: ToolContent, change: ToolChange): ToolContent =>
  contentFields({ ...tool, ...omitUndefined(change) } as ToolContent)
