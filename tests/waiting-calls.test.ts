import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { putPolicy } from '../src/operations/registry/policies.ts'
import { callTool } from '../src/operations/runs/call-tool.ts'
import { executeTool } from '../src/operations/runs/execute.ts'
import { approveExecution, refuseExecution } from '../src/operations/runs/executions.ts'
import { openRecorded } from './support/open-recorded.ts'

let world: Awaited<ReturnType<typeof openRecorded>>
beforeAll(async () => {
  world = await openRecorded({ concurrency: 1 })
})
afterAll(() => world.close())

it('holds calls that wait for their turn in this process to what was tightened meanwhile', async () => {
  const { context, stores, folder } = world
  const release = join(folder, 'release')
  await world.register('holds', { script: `until [ -e '${release}' ]; do sleep 0.05; done` })
  for (const name of ['pays', 'bounded', 'free']) await world.register(name, { script: 'echo "ran $1"' })
  const waiting = async (count: number) =>
    expect
      .poll(async () => (await stores.executions.list('default', { limit: 10, status: ['PENDING'] })).items)
      .toHaveLength(count)
  const input = { word: 'x' }
  const first = invoke(executeTool, { idOrName: 'holds', input, wait: true }, context)
  await expect.poll(() => context.runner.slots.free).toBe(0)
  const execute = (idOrName: string) => invoke(executeTool, { idOrName, input, wait: true }, context)
  const calls = [execute('pays'), execute('bounded'), execute('free')]
  const byAgent = invoke(callTool, { name: 'pays', arguments: input }, context)
  await waiting(4)
  const tools = { pays: { args: {}, requireApproval: true }, bounded: { args: { word: { pattern: 'y' } } } }
  await invoke(putPolicy, { name: 'tight', default: 'enabled', tools }, context)
  writeFileSync(release, '')
  await first
  expect(await Promise.all(calls)).toMatchObject([
    { status: 'CANCELLED', errorCode: 'APPROVAL_NEEDED', attempt: 0 },
    { status: 'CANCELLED', errorCode: 'POLICY_REFUSED', attempt: 0 },
    { status: 'SUCCESS', outputData: 'ran x\n' },
  ])
  expect(await byAgent).toMatchObject({ outcome: { status: 'CANCELLED', errorCode: 'APPROVAL_NEEDED' } })
})

const callAs = async (idOrName: string, actor: string) => {
  const { context } = world
  const as = { ...context, caller: { ...context.caller, actor } }
  const answer = await invoke(executeTool, { idOrName, input: { word: 'x' } }, as)
  return 'id' in answer ? answer.id : expect.fail('The call was not recorded.')
}

it('starts no call of a key that has expired, and refuses its approval', async () => {
  const { context, stores } = world
  const expiresAt = new Date(0).toISOString()
  const key = { name: 'old', hash: 'hash of old', prefix: 'old', scopes: ['call' as const], expiresAt }
  await stores.keys.create(context.caller, key)
  await world.register('sends', { script: 'echo "sent $1"', annotations: { requiresApproval: true } })
  await world.register('prints', { script: 'echo "printed $1"' })
  const asked = await callAs('sends', 'key:old')
  await expect(invoke(approveExecution, { id: asked }, context)).rejects.toMatchObject({
    code: 'ILLEGAL_STEP',
    message: expect.stringContaining("its key 'old' has expired"),
  })
  const refused = await invoke(refuseExecution, { id: asked }, context)
  expect(refused).toMatchObject({ status: 'CANCELLED', errorCode: 'APPROVAL_REFUSED' })
  const queued = await callAs('prints', 'key:old')
  await expect
    .poll(() => stores.executions.get('default', queued))
    .toMatchObject({ status: 'CANCELLED', errorCode: 'EXECUTION_CANCELLED' })
  const other = await callAs('prints', 'key:other')
  await expect.poll(() => stores.executions.get('default', other)).toMatchObject({ status: 'SUCCESS' })
})

it('cancels the running and the waiting calls of a key that is revoked, and no others', async () => {
  const { context, stores, folder } = world
  const key = { name: 'leaked', hash: 'hash of leaked', prefix: 'leak', scopes: ['call' as const] }
  await stores.keys.create(context.caller, key)
  const release = join(folder, 'release-others')
  await world.register('stays', { script: `until [ -e '${release}' ]; do sleep 0.05; done; echo "stayed"` })
  const running = await callAs('stays', 'key:leaked')
  await expect.poll(() => stores.executions.get('default', running)).toMatchObject({ status: 'RUNNING' })
  const waiting = await callAs('stays', 'key:leaked')
  const other = await callAs('stays', 'key:other')
  await stores.keys.revoke(context.caller, 'leaked')
  for (const id of [running, waiting])
    await expect
      .poll(() => stores.executions.get('default', id))
      .toMatchObject({ status: 'CANCELLED', errorCode: 'EXECUTION_CANCELLED' })
  writeFileSync(release, '')
  await expect.poll(() => stores.executions.get('default', other)).toMatchObject({ status: 'SUCCESS' })
})
