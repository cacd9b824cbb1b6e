import * as z from 'zod'
import { mustExist } from '../../base/errors.ts'
import { Limit, LimitName, limitMeasures } from '../../contract/policy.ts'
import { refuseFindings } from '../../diagnostics/problem-error.ts'
import { checkLimitRule } from '../../rules/limit-rules.ts'
import { defineOperation } from '../operation.ts'
import { ExpectedVersion } from './inputs.ts'

const tag = 'limits'
const condition = { expectedVersion: ExpectedVersion.optional() }

const Usage = z.object({
  subject: z.string().describe('The caller, tool or toolset that is counted separately; empty for all together.'),
  used: z
    .object(Object.fromEntries(limitMeasures.map((measure) => [measure, z.number().optional()])))
    .describe('The present use, by the measures of the limit.'),
})
const UsedLimit = Limit.extend({ usage: z.array(Usage) })

/** Lists limits. */
export const listLimits = defineOperation({
  name: 'limits.list',
  summary: 'List rate limits and daily budgets with their present use, of all replicas together.',
  scope: 'write',
  needs: ['registry'],
  http: { method: 'get', path: '/limits', tag },
  input: z.object({}),
  output: z.object({ items: z.array(UsedLimit) }),
  async handle(_, context) {
    const { limits } = context.registry.stores
    const { workspace } = context.caller
    const [all, usage] = [await limits.list(workspace), await limits.usage(workspace)]
    const items = all.map((limit) => ({
      ...limit,
      usage: usage
        .filter((use) => use.limit === limit.name)
        .map(({ subject, used }) => ({
          subject,
          used: Object.fromEntries(
            limitMeasures.flatMap((measure) => (limit[measure] === undefined ? [] : [[measure, used[measure]]])),
          ),
        })),
    }))
    return { items }
  },
})

/** Reads a limit. */
export const getLimit = defineOperation({
  name: 'limits.get',
  summary: 'Read a limit.',
  scope: 'write',
  needs: ['registry'],
  http: { method: 'get', path: '/limits/{name}', tag },
  input: z.object({ name: LimitName }),
  output: Limit,
  handle: async ({ name }, context) =>
    mustExist(await context.registry.stores.limits.get(context.caller.workspace, name), 'limit', name),
})

/** Creates or replaces a limit. */
export const putLimit = defineOperation({
  name: 'limits.put',
  summary: 'Create or replace a limit of a caller, a tool or a toolset; its counters stay.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'put', path: '/limits/{name}', tag },
  input: Limit.extend(condition),
  output: Limit,
  async handle({ expectedVersion, ...limit }, context) {
    refuseFindings(checkLimitRule(limit))
    await context.registry.stores.limits.put(context.caller, limit, { expectedVersion })
    return limit
  },
})

/** Deletes a limit. */
export const deleteLimit = defineOperation({
  name: 'limits.delete',
  summary: 'Delete a limit and its counters.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'delete', path: '/limits/{name}', tag },
  input: z.object({ name: LimitName, ...condition }),
  output: Limit,
  async handle({ name, expectedVersion }, context) {
    const { limits } = context.registry.stores
    const limit = mustExist(await limits.get(context.caller.workspace, name), 'limit', name)
    await limits.remove(context.caller, name, { expectedVersion })
    return limit
  },
})
