import { afterAll, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { composeProcess } from '../src/app/compose.ts'
import { ExecutorType, executorKinds } from '../src/contract/executor-kinds.ts'
import { Environments, executors, openExecutorOfEachKind, Sandbox } from '../src/executors/index.ts'
import { RegistryFeed } from '../src/operations/catalog/registry-feed.ts'
import { createToolCheck } from '../src/operations/checks/check-tool.ts'
import { invoke } from '../src/operations/invoke.ts'
import { putPolicy } from '../src/operations/registry/policies.ts'
import { activateTool, createTool } from '../src/operations/registry/tools.ts'
import { executeTool } from '../src/operations/runs/execute.ts'
import { describeTools } from '../src/operations/search/describe-tools.ts'
import { openRuns } from '../src/runs/open-runs.ts'
import { createStores } from '../src/storage/index.ts'
import { planText } from '../src/surfaces/text/result-text.ts'
import { openMigrated } from './support/migrated-database.ts'

// The kind `echo`: its line in the list of kinds, and the code of its folder.
vi.mock('../src/contract/executor-kinds.ts', async (original) => {
  const real = await original<typeof import('../src/contract/executor-kinds.ts')>()
  const kinds = Object.assign(real.executorKinds, { echo: { isProcess: false, plan: { text: z.string() } } })
  return { ...real, executorKinds: kinds, ExecutorType: z.enum(Object.keys(kinds)) }
})
vi.mock('../src/executors/index.ts', async (original) => {
  const real = await original<typeof import('../src/executors/index.ts')>()
  const { defineExecutor } = await import('../src/executors/define-executor.ts')
  const { defineConfigCheck } = await import('../src/executors/read-config.ts')
  const { noResult } = await import('../src/contract/executor.ts')
  const config = z.strictObject({ prefix: z.string() })
  const open = () =>
    defineExecutor({
      kind: 'echo' as ExecutorType,
      config,
      deadlineMs: () => 1000,
      readiness: () => ({ state: 'ready' }),
      prepare({ config: { prefix }, input, deadlineMs: timeoutMs }) {
        const text = `${prefix} ${input.text}`
        return {
          plan: async () => ({ kind: 'echo', isolation: 'none', timeoutMs, text }) as never,
          run: async () => ({
            status: 'SUCCESS',
            result: noResult,
            output: text,
            isolation: 'none',
            errorCode: null,
            errorMessage: null,
          }),
        }
      },
    })
  Object.assign(real.executors, { echo: { checkConfig: defineConfigCheck(config, () => []), open } })
  return real
})

const database = await openMigrated()
const stores = createStores(database)
const host = { env: {}, sandbox: new Sandbox({ env: {} }), environments: new Environments('/nowhere') }
const opened = openExecutorOfEachKind(host)
const composed = composeProcess({ configs: [] }, { executors: opened })
const { runner, logger, catalog } = composed
const runs = await openRuns({
  runner,
  logger,
  store: stores.executions,
  kind: 'server',
  takesWork: true,
  runsTools: true,
})
const context = { ...composed, registry: { stores, check: createToolCheck({ executors: opened }) }, runs }
afterAll(async () => {
  await runs.close(0)
  await runner.close(2000)
  await database.close()
})

const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const tool = (executorConfig: object) => ({
  name: 'repeat',
  description: 'Repeats a text.',
  executorType: 'echo' as ExecutorType,
  executorConfig: executorConfig as Record<string, unknown>,
  inputSchema,
})

it('lists every kind in both tables', () => {
  // Functions of a program cannot be registered.
  const kinds = Object.keys(executorKinds).filter((kind) => kind !== 'code')
  expect(Object.keys(executors).sort()).toEqual(kinds.sort())
  expect(ExecutorType.options.filter((kind) => (kind as string) !== 'code').sort()).toEqual(kinds)
  expect(runner.kinds).toContain('echo')
})

it('validates, describes, plans, bounds, runs and records tools of a kind that was added', async () => {
  await expect(invoke(createTool, tool({ prefx: 'you said' }), context)).rejects.toMatchObject({
    code: 'TOOL_INVALID',
    problems: expect.arrayContaining([expect.objectContaining({ pointer: '/executorConfig/prefix' })]),
  })
  await invoke(createTool, tool({ prefix: 'you said' }), context)
  await invoke(activateTool, { idOrName: 'repeat' }, context)
  await new RegistryFeed({ stores, catalog, workspace: 'default', logger }).sync()
  expect(JSON.stringify(await invoke(describeTools, { ids: ['repeat'] }, context))).toContain('Repeats a text.')

  const call = { idOrName: 'repeat', input: { text: 'hello' } }
  const dry = await invoke(executeTool, { ...call, dryRun: true }, context)
  const plan = { kind: 'echo', isolation: 'none', timeoutMs: 1000, text: 'you said hello' }
  expect(dry).toMatchObject({ dryRun: true, plan })
  expect(planText(plan as never)).toBe('{"text":"you said hello"}\nfor at most 1s')

  const done = await invoke(executeTool, { ...call, wait: true }, context)
  expect(done).toMatchObject({ status: 'SUCCESS', outputData: 'you said hello', isolation: 'none', timeoutMs: 1000 })
  expect(await stores.executions.get('default', (done as { id: string }).id)).toMatchObject({ status: 'SUCCESS' })

  await invoke(putPolicy, { name: 'polite', tools: { repeat: { args: { text: { pattern: 'hi' } } } } }, context)
  await expect(invoke(executeTool, { ...call, dryRun: true }, context)).rejects.toMatchObject({
    code: 'POLICY_REFUSED',
  })
})
