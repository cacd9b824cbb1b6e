import * as z from 'zod'
import { mustExist, TooldexError } from '../../base/errors.ts'
import { withDisplayName } from '../../contract/bundle.ts'
import { ToolStatus } from '../../contract/catalog.ts'
import {
  RegisteredTool,
  ToolChange,
  ToolContent,
  ToolDraft,
  type Transition,
  toolSorts,
  transitions,
} from '../../contract/registry.ts'
import { hasErrors } from '../../diagnostics/finding.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import { refuseTakenName, refuseUnprotecting } from '../checks/protection-gate.ts'
import { refuseWithoutProposal } from '../checks/replay-gate.ts'
import { defineOperation } from '../operation.ts'
import { policiesOf, readableNames } from '../search/tool-view.ts'
import { Changelog, ExpectedVersion, IdOrName, pageOf, paging } from './inputs.ts'
import {
  checkContent,
  contentFields,
  findRegistered,
  findToValidate,
  nameToChange,
  refuseCodeWithoutAdmin,
  refuseInvalidTool,
  withChange,
} from './registry.ts'
import { findToolConflicts } from './validate-tool.ts'
import { changeRegisteredTool, WrittenTool, withWarnings } from './written-tool.ts'

const tag = 'tools'

/** Registers a tool. */
export const createTool = defineOperation({
  name: 'registry.create',
  summary: 'Register a tool as a draft.',
  subject: 'tool',
  scope: 'write',
  needs: ['catalog', 'registry'],
  http: { method: 'post', path: '/tools', status: 201, location: '/tools/{id}', tag },
  input: ToolDraft.extend({ changelog: Changelog.optional() }).overwrite(withDisplayName),
  output: WrittenTool,
  async handle({ changelog, ...content }, context) {
    await refuseCodeWithoutAdmin(context, undefined, content)
    const { stores } = context.registry
    await refuseTakenName(context, content, { policies: await policiesOf(context) })
    const problems = await checkContent(context, content)
    const conflicts = await findToolConflicts(context, content)
    if (hasErrors([...problems, ...conflicts.category]))
      throw toProblemError({
        code: 'TOOL_INVALID',
        what: `The tool ${content.name}`,
        problems: [...problems, ...conflicts.category, ...conflicts.name],
      })
    return withWarnings(await stores.tools.create(context.caller, content, { changelog }), problems)
  },
  validateRemainder: ({ changelog: _changelog, ...content }, context) => checkContent(context, content),
})

/** Reads a tool. */
export const getTool = defineOperation({
  name: 'registry.get',
  summary: 'Read a registered tool by id or name.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/tools/{idOrName}', tag },
  input: z.object({ idOrName: IdOrName }),
  output: RegisteredTool,
  handle: ({ idOrName }, context) => findRegistered(context, idOrName),
})

/** Lists tools. */
export const listRegistered = defineOperation({
  name: 'registry.list',
  summary: 'List registered tools, with filters and paging.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/tools', tag },
  input: z.object({
    ...paging,
    page: z
      .int()
      .min(1)
      .max(100_000)
      .optional()
      .describe('Page number, from 1, instead of a cursor; the total count is included.'),
    sort: z.enum(toolSorts).default('-updatedAt').describe('Sort order.'),
    status: z.array(ToolStatus).optional().describe('Only tools with this status.'),
    category: z
      .string()
      .max(200)
      .optional()
      .describe('Only tools of this category (name or id) and its subcategories.'),
    tag: z.array(z.string().max(100)).optional().describe('Only tools with this tag; may be repeated, all must match.'),
    executorType: z.array(ToolContent.shape.executorType).optional().describe('Only tools with this executor.'),
    search: z
      .string()
      .max(1000)
      .optional()
      .describe('Only tools with this text in the name, display name or description.'),
    total: z.boolean().optional().describe('Whether to return the total count.'),
  }),
  output: pageOf(RegisteredTool),
  async handle({ category, tag: tags, total, ...query }, context) {
    if (query.page !== undefined && query.cursor !== undefined)
      throw new TooldexError('INPUT_INVALID', 'Use either page or cursor, not both.', {
        hint: 'Send a cursor to continue, or a page to jump.',
      })
    const { stores } = context.registry
    const { workspace } = context.caller
    const found =
      category === undefined
        ? undefined
        : mustExist(await stores.categories.get(workspace, category), 'category', category)
    const names = await readableNames(context)
    const filters = { tags, categoryId: found?.id, ...(names && { names }) }
    const counted = total ?? query.page !== undefined
    return stores.tools.list(workspace, { ...query, ...filters, total: counted })
  },
})

/** Changes a tool. */
export const changeTool = defineOperation({
  name: 'registry.change',
  summary: 'Change some fields of a tool; this creates its next version.',
  subject: 'change',
  scope: 'write',
  needs: ['catalog', 'registry'],
  http: { method: 'patch', path: '/tools/{idOrName}', tag },
  input: ToolChange.extend({
    idOrName: IdOrName,
    changelog: Changelog.optional(),
    expectedVersion: ExpectedVersion.optional(),
  }),
  output: WrittenTool,
  async handle({ idOrName, changelog, expectedVersion, ...change }, context) {
    return changeRegisteredTool(context, await nameToChange(context, idOrName), {
      make: (current) => withChange(current, change),
      gate: refuseWithoutProposal,
      options: { changelog, expectedVersion },
    })
  },
  async validateRemainder({ idOrName, changelog: _changelog, expectedVersion: _expected, ...change }, context) {
    const current = await findToValidate(context, idOrName)
    return current === undefined ? [] : checkContent(context, withChange(current, change))
  },
})

/** Deletes a tool. */
export const deleteTool = defineOperation({
  name: 'registry.delete',
  summary: 'Delete a tool with its versions; its executions remain readable.',
  scope: 'write',
  needs: ['catalog', 'registry'],
  http: { method: 'delete', path: '/tools/{idOrName}', tag },
  input: z.strictObject({ idOrName: IdOrName, expectedVersion: ExpectedVersion.optional() }),
  output: RegisteredTool,
  async handle({ idOrName, expectedVersion }, context) {
    const name = await nameToChange(context, idOrName)
    const { stores } = context.registry
    const current = await stores.tools.get(context.caller.workspace, name)
    const policies = await policiesOf(context)
    if (current !== undefined) refuseUnprotecting(context, { policies, current })
    return stores.tools.remove(context.caller, name, { expectedVersion })
  },
})

const step = <const Name extends Transition>(name: Name, summary: string) =>
  defineOperation({
    name: `registry.${name}` as `registry.${Name}`,
    summary,
    scope: 'write',
    needs: ['catalog', 'registry'],
    http: { method: 'post', path: `/tools/{idOrName}/${name}`, tag },
    input: z.strictObject({ idOrName: IdOrName, expectedVersion: ExpectedVersion.optional() }),
    output: WrittenTool,
    async handle({ idOrName, expectedVersion }, context) {
      const tool = await nameToChange(context, idOrName)
      const offers = transitions[name].to === 'ACTIVE'
      const problems = offers
        ? await refuseInvalidTool({ ...context, prepare: true }, contentFields(await findRegistered(context, tool)))
        : []
      const { stores } = context.registry
      return withWarnings(await stores.tools.transition(context.caller, tool, name, { expectedVersion }), problems)
    },
  })

export const activateTool = step('activate', 'Activate a draft, so that agents are offered it.')
export const deactivateTool = step('deactivate', 'Deactivate an active tool, so that agents are no longer offered it.')
export const deprecateTool = step(
  'deprecate',
  'Deprecate an active tool: it can still be called by name, with a warning.',
)
export const reactivateTool = step('reactivate', 'Reactivate a disabled tool.')
export const undeprecateTool = step('undeprecate', 'Undo the deprecation of a tool.')
