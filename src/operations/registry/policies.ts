import * as z from 'zod'
import { mustExist } from '../../base/errors.ts'
import { fieldsAsStored } from '../../contract/as-stored.ts'
import { BundlePolicy, PolicyName } from '../../contract/bundle.ts'
import { Policy } from '../../contract/policy.ts'
import { refuseFindings } from '../../diagnostics/problem-error.ts'
import { checkPolicy } from '../../rules/policy-rules.ts'
import { shownPolicy } from '../../rules/stored-policy.ts'
import { faultsOfPatterns } from '../checks/tool-threads.ts'
import { defineOperation, type OperationContext } from '../operation.ts'

const tag = 'policies'

/** A policy as it is stored. */
const ShownPolicy = z.object(fieldsAsStored(BundlePolicy.shape))

/** Lists policies. */
export const listPolicies = defineOperation({
  name: 'policies.list',
  summary: 'List stored policies by name.',
  scope: 'write',
  needs: ['registry'],
  http: { method: 'get', path: '/policies', tag },
  input: z.object({}),
  output: z.object({ items: z.array(ShownPolicy) }),
  handle: async (_, context) => ({
    items: (await context.registry.stores.policies.list(context.caller.workspace)).map(shownPolicy),
  }),
})

/** Reads a policy. */
export const getPolicy = defineOperation({
  name: 'policies.get',
  summary: 'Read a policy.',
  scope: 'write',
  needs: ['registry'],
  http: { method: 'get', path: '/policies/{name}', tag },
  input: z.object({ name: PolicyName }),
  output: ShownPolicy,
  handle: ({ name }, context) => findPolicy(context, name),
})

/** Creates or replaces a policy. */
export const putPolicy = defineOperation({
  name: 'policies.put',
  summary: 'Create or replace a policy.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'put', path: '/policies/{name}', tag },
  input: Policy.extend({ name: PolicyName }),
  output: BundlePolicy,
  async handle({ name, ...policy }, context) {
    await refuseInvalidPolicy(policy, context)
    await context.registry.stores.policies.put(context.caller, { name, policy })
    return { name, policy }
  },
})

/** Deletes a policy. */
export const deletePolicy = defineOperation({
  name: 'policies.delete',
  summary: 'Delete a policy.',
  scope: 'admin',
  needs: ['registry'],
  http: { method: 'delete', path: '/policies/{name}', tag },
  input: z.object({ name: PolicyName }),
  output: ShownPolicy,
  async handle({ name }, context) {
    const policy = await findPolicy(context, name)
    await context.registry.stores.policies.remove(context.caller, name)
    return policy
  },
})

async function findPolicy(context: OperationContext<'registry'>, name: string): Promise<BundlePolicy> {
  const policy = await context.registry.stores.policies.get(context.caller.workspace, name)
  return shownPolicy(mustExist(policy, 'policy', name))
}

/** Rejects problems that the schema cannot detect, such as an invalid pattern; the path is that of the policy in the input. */
export async function refuseInvalidPolicy(
  policy: Policy,
  { signal }: Pick<OperationContext, 'signal'>,
  path: readonly string[] = [],
): Promise<void> {
  const faultOf = await faultsOfPatterns([policy], signal)
  refuseFindings(checkPolicy(policy, faultOf).map((finding) => ({ ...finding, path: [...path, ...finding.path] })))
}
