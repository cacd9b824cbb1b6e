import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Execution } from '../src/contract/execution.ts'
import { invoke } from '../src/operations/invoke.ts'
import { putPolicy } from '../src/operations/registry/policies.ts'
import { callTool } from '../src/operations/runs/call-tool.ts'
import { executeTool, invokeForModel } from '../src/operations/runs/execute.ts'
import { cancelExecution, getExecution, listExecutions } from '../src/operations/runs/executions.ts'
import { describeTools } from '../src/operations/search/describe-tools.ts'
import { openRecorded } from './support/open-recorded.ts'

let world: Awaited<ReturnType<typeof openRecorded>>
beforeAll(async () => {
  // With one slot, a program that shared it with its calls would wait for itself.
  world = await openRecorded({ concurrency: 1 })
  await world.register('says', { script: 'echo "says $1 $2"' })
  await world.register('fails', { script: 'echo "no $1" >&2; exit 3' })
  await world.register('prints_much', { script: 'yes "$1" | head -n 20000' })
  await world.register('pays', { script: 'echo "paid $1"', annotations: { requiresApproval: true } })
  await world.register('waits', { script: `: > '${join(world.folder, 'begun')}'; sleep 600` })
})
afterAll(() => world.close())

const agent = () => ({ ...world.context, codeMode: true })
const name = 'tooldex:run_code'
const run = (code: string, context = agent()) => invoke(callTool, { name, arguments: { code } }, context)

async function ended(code: string, context = agent()) {
  const answer = await run(code, context)
  if (!('outcome' in answer)) throw new Error('The program has not ended.')
  return answer
}

const childrenOf = async (id: string | undefined) =>
  (await invoke(listExecutions, { parent: String(id), sort: 'createdAt' }, world.context)).items

describe('a program where calls are recorded', () => {
  it('is one execution, and its calls are the children', async () => {
    const code = `
      const words = await Promise.all(['a', 'b'].map((word) => tools.says({ word })))
      try { await tools.fails({ word: 'x' }) } catch (error) { console.log(error.code, error.message, error.executionId) }
      return words.map((each) => each.trim())`
    const { outcome, executionId } = await ended(code)
    expect(outcome).toMatchObject({ status: 'SUCCESS', output: ['says a 1', 'says b 1'] })
    const children = await childrenOf(executionId)
    const facts = children.map(({ toolName, status, parentId }) => [toolName, status, parentId])
    expect(facts.sort()).toEqual([
      ['fails', 'FAILED', executionId],
      ['says', 'SUCCESS', executionId],
      ['says', 'SUCCESS', executionId],
    ])
    const failed = children.find(({ toolName }) => toolName === 'fails')
    expect(outcome.result.stdout).toBe(`EXECUTION_FAILED fails: Command failed with exit code 3\nno x ${failed?.id}\n`)
    const parent = await invoke(getExecution, { id: String(executionId) }, world.context)
    expect(parent).toMatchObject({ toolName: name, status: 'SUCCESS', parentId: null, inputData: { code } })
  })

  it('receives large outputs whole, and returns large values by a handle', async () => {
    const { outcome } = await ended(`return (await tools.prints_much({ word: 'w'.repeat(20) })).split('\\n').length`)
    expect(outcome.output).toBe(20_001)
    const large = await ended(`return Array.from({ length: 20000 }, (_, id) => ({ id }))`)
    expect(large.stored).toMatchObject({ mediaType: 'application/json' })
  })

  it('answers in the same way to every operation that calls tools', async () => {
    const input = { code: `return (await tools.says({ word: 'x' })).length` }
    const executed = await invoke(executeTool, { idOrName: name, input, wait: true }, agent())
    expect(executed).toMatchObject({ status: 'SUCCESS', outputData: 9 })
    const invoked = await invoke(invokeForModel, { name, arguments: input }, agent())
    expect(invoked).toMatchObject({ success: true, result: 9 })
    const planned = await invoke(executeTool, { idOrName: name, input, dryRun: true }, agent())
    expect(planned).toMatchObject({ dryRun: true, plan: { kind: 'program' }, needsApproval: false })
  })

  it('goes on after a response that does not wait for it', async () => {
    const input = { code: `return await tools.says({ word: 'later' })` }
    const begun = (await invoke(executeTool, { idOrName: name, input }, agent())) as Execution
    expect(begun).toMatchObject({ toolName: name, parentId: null })
    await expect
      .poll(() => world.stores.executions.get('default', begun.id), { timeout: 60_000 })
      .toMatchObject({ status: 'SUCCESS', outputData: 'says later 1\n' })
  })

  it('runs once for one idempotency key', async () => {
    const call = { name, arguments: { code: `return await tools.says({ word: 'once' })` }, idempotencyKey: 'k1' }
    const [first, second] = [await invoke(callTool, call, agent()), await invoke(callTool, call, agent())]
    expect(second).toMatchObject({ executionId: (first as { executionId: string }).executionId })
  })
})

describe('the calls of a program', () => {
  it('are bound by the policies of its caller', async () => {
    const tools = { says: { args: { word: { pattern: '^good$' } } } }
    await invoke(putPolicy, { name: 'tight', default: 'disabled', tools, callers: ['bound'] }, world.context)
    await world.sync()
    const bound = { ...agent(), caller: { workspace: 'default', actor: 'key:bound' } }
    const code = `
      const codes = []
      for (const call of [() => tools.says({ word: 'good' }), () => tools.says({ word: 'bad' }), () => tools.fails({ word: 'x' })])
        codes.push(await call().then(() => 'ran', (error) => error.code))
      return [codes, (await search('says')).map(({ name }) => name), await describe('fails').catch((error) => error.code)]`
    const { outcome } = await ended(code, bound)
    expect(outcome.output).toEqual([['ran', 'POLICY_REFUSED', 'TOOL_NOT_FOUND'], ['says'], 'TOOL_NOT_FOUND'])
    const unscoped = { ...agent(), scopes: new Set(['call' as const]) }
    const searched = await ended(`return search('x').catch((error) => error.code)`, unscoped)
    expect(searched.outcome.output).toBe('FORBIDDEN')
  })

  it('fail at once where they need approval, naming the execution that waits', async () => {
    const { outcome, executionId } = await ended(
      `return tools.pays({ word: 'x' }).catch(({ code, message, executionId }) => ({ code, message, executionId }))`,
    )
    const [child] = await childrenOf(executionId)
    expect(child).toMatchObject({ toolName: 'pays', status: 'PENDING', reason: 'approval' })
    expect(outcome.output).toEqual({
      code: 'APPROVAL_NEEDED',
      message: expect.stringContaining(`execution ${child?.id}`),
      executionId: child?.id,
    })
  })

  it('cannot be programs', async () => {
    const { outcome } = await ended(`return tools['tooldex:run_code']({ code: '' }).catch((error) => error.code)`)
    expect(outcome.output).toBe('FORBIDDEN')
  })

  it('are cancelled with the program, also those that wait for approval', async () => {
    const code = `await tools.pays({ word: 'x' }).catch(() => {}); await tools.waits({ word: 'x' })`
    const begun = (await invoke(executeTool, { idOrName: name, input: { code } }, agent())) as Execution
    await expect.poll(() => existsSync(join(world.folder, 'begun')), { timeout: 60_000 }).toBe(true)
    await invoke(cancelExecution, { id: begun.id }, world.context)
    const statusOf = async () => {
      const all = [await invoke(getExecution, { id: begun.id }, world.context), ...(await childrenOf(begun.id))]
      return all.map(({ toolName, status }) => `${toolName} ${status}`)
    }
    await expect.poll(statusOf, { timeout: 60_000 }).toEqual([`${name} CANCELLED`, 'pays CANCELLED', 'waits CANCELLED'])
  })

  it('end with the deadline of the program', async () => {
    const input = { code: `await tools.waits({ word: 'x' })`, timeoutMs: 1500 }
    const late = (await invoke(executeTool, { idOrName: name, input, wait: true }, agent())) as Execution
    expect(late).toMatchObject({ status: 'TIMEOUT', errorCode: 'EXECUTION_TIMEOUT' })
    for (const child of await childrenOf(late.id)) expect(child.status).toBe('CANCELLED')
  })
})

it('runs no program where code mode is off, and says how to turn it on', async () => {
  const { context } = world
  await expect(run('return 1', { ...context, codeMode: false })).rejects.toMatchObject({
    code: 'FORBIDDEN',
    hint: expect.stringContaining('--code-mode'),
  })
  const off = await invoke(describeTools, { ids: [name] }, context)
  expect(off.tools[0]).toMatchObject({ readiness: { reason: 'code mode is off for this caller' } })
  const on = await invoke(describeTools, { ids: [name] }, agent())
  expect(on.tools[0]).not.toHaveProperty('readiness')
})

it('rejects a program that is too long, or has arguments of other names', async () => {
  await expect(run('x'.repeat(1_000_000))).rejects.toMatchObject({ code: 'INPUT_INVALID' })
  await expect(invoke(callTool, { name, arguments: { program: '1' } }, agent())).rejects.toMatchObject({
    code: 'INPUT_INVALID',
  })
})
