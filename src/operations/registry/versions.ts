import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { type RegisteredTool, ToolChange, type ToolContent, ToolVersion } from '../../contract/registry.ts'
import { ToolDiff } from '../../contract/tool-diff.ts'
import { describeDiff } from '../../versions/describe-diff.ts'
import { diffToolInThread } from '../checks/tool-threads.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { Changelog, ExpectedVersion, IdOrName, pageOf, paging, VersionNumber } from './inputs.ts'
import {
  checkContent,
  contentFields,
  findRegistered,
  findToValidate,
  nameToChange,
  refuseInvalidTool,
  withChange,
} from './registry.ts'
import { changeRegisteredTool, WrittenTool, withWarnings, writeWarnings } from './written-tool.ts'

const tag = 'versions'

/** Lists the versions of a tool. */
export const listVersions = defineOperation({
  name: 'versions.list',
  summary: 'List the versions of a tool, newest first.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/tools/{idOrName}/versions', tag },
  input: z.object({ idOrName: IdOrName, ...paging }),
  output: pageOf(ToolVersion),
  async handle({ idOrName, ...query }, context) {
    const { id } = await findRegistered(context, idOrName)
    return context.registry.stores.tools.versions(context.caller.workspace, id, query)
  },
})

/** Reads one version. */
export const getVersion = defineOperation({
  name: 'versions.get',
  summary: 'Read one version of a tool.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/tools/{idOrName}/versions/{version}', tag },
  input: z.object({ idOrName: IdOrName, version: VersionNumber }),
  output: ToolVersion,
  handle: async ({ idOrName, version }, context) =>
    findVersion(context, await findRegistered(context, idOrName), version),
})

/** Compares two versions. */
export const diffVersions = defineOperation({
  name: 'versions.diff',
  summary: 'Compare two versions field by field, and class each change as breaking, compatible or wording.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/tools/{idOrName}/diff', tag },
  input: z.object({
    idOrName: IdOrName,
    from: VersionNumber.optional().describe('Older version (default: the one before the newer).'),
    to: VersionNumber.optional().describe('Newer version (default: the latest).'),
  }),
  output: ToolDiff.extend({ from: z.int(), to: z.int(), text: z.string().describe('The diff as text.') }),
  async handle({ idOrName, from, to }, context) {
    const tool = await findRegistered(context, idOrName)
    const newer = to ?? tool.version
    const older = from ?? Math.max(newer - 1, 1)
    const after = await findVersion(context, tool, newer)
    const before = await findVersion(context, tool, older)
    const diff = await diffToolInThread(before.content, after.content, context.signal)
    return { ...diff, from: older, to: newer, text: describeDiff(diff) }
  },
})

/** Compares a change with the tool it would change. */
export const diffChange = defineOperation({
  name: 'versions.diffChange',
  summary: 'Validate a change of a tool, and class its differences from the current version, without applying it.',
  subject: 'change',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'post', path: '/tools/{idOrName}/diff', tag },
  input: ToolChange.extend({ idOrName: IdOrName }),
  output: ToolDiff.extend({
    from: z.int().describe('The current version.'),
    text: z.string().describe('The diff as text.'),
    ...writeWarnings,
  }),
  async handle({ idOrName, ...change }, context) {
    const tool = await findRegistered(context, await nameToChange(context, idOrName))
    const next = withChange(tool, change)
    const problems = await refuseInvalidTool(context, next)
    const diff = await diffToolInThread(contentFields(tool), next, context.signal)
    return withWarnings({ ...diff, from: tool.version, text: describeDiff(diff) }, problems)
  },
  async validateRemainder({ idOrName, ...change }, context) {
    const tool = await findToValidate(context, idOrName)
    return tool === undefined ? [] : checkContent(context, withChange(tool, change))
  },
})

/** Restores the content of an earlier version. */
export const rollbackTool = defineOperation({
  name: 'versions.rollback',
  summary: 'Create a new version with the content of an earlier one, including its name.',
  subject: 'rollback',
  scope: 'write',
  needs: ['catalog', 'registry'],
  http: { method: 'post', path: '/tools/{idOrName}/rollback', tag },
  input: z.strictObject({
    idOrName: IdOrName,
    version: VersionNumber.describe('Version to restore.'),
    changelog: Changelog.optional(),
    expectedVersion: ExpectedVersion.optional(),
  }),
  output: WrittenTool,
  async handle({ idOrName, version, changelog, expectedVersion }, context) {
    const tool = await findRegistered(context, await nameToChange(context, idOrName))
    const { content } = await findVersion(context, tool, version)
    const next = { ...contentFields(content), ...(await categoryOf(context, content, tool)) }
    const options = { changelog: changelog ?? `back to version ${version}`, expectedVersion, backTo: version }
    try {
      return await changeRegisteredTool(context, tool.id, { make: () => next, options })
    } catch (thrown) {
      throw nameTaken(thrown, tool, content.name)
    }
  },
  async validateRemainder({ idOrName, version }, context) {
    const tool = await findToValidate(context, idOrName)
    if (tool === undefined) return []
    const found = await context.registry.stores.tools.version(context.caller.workspace, tool.id, version)
    return found === undefined ? [] : checkContent(context, found.content)
  },
})

/** A deleted category does not come back with the version; the tool keeps its current one. */
async function categoryOf(context: OperationContext<'registry'>, { categoryId }: ToolContent, tool: RegisteredTool) {
  if (categoryId === null) return {}
  const found = await context.registry.stores.categories.get(context.caller.workspace, categoryId)
  return found === undefined ? { categoryId: tool.categoryId } : {}
}

/** Rewords the conflict of a name that came with the version, because the request does not contain it. */
function nameTaken(thrown: unknown, { name: now }: RegisteredTool, then: string): unknown {
  if (!(thrown instanceof TooldexError) || thrown.code !== 'NAME_TAKEN') return thrown
  return new TooldexError(
    'NAME_TAKEN',
    `${now} was named '${then}' in that version, and another tool has this name now.`,
    {
      hint: `Rename or delete the other tool '${then}' first, or change the fields of ${now} one by one.`,
      cause: thrown,
    },
  )
}

async function findVersion(
  context: OperationContext<'registry'>,
  tool: RegisteredTool,
  version: number,
): Promise<ToolVersion> {
  const found = await context.registry.stores.tools.version(context.caller.workspace, tool.id, version)
  if (found !== undefined) return found
  throw new TooldexError('NOT_FOUND', `${tool.name} has no version ${version}; its versions are 1 to ${tool.version}.`)
}
