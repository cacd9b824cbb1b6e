import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { exportBundle } from '../src/operations/registry/bundles.ts'
import { validateDraft, validateTool } from '../src/operations/registry/check.ts'
import { getForModel } from '../src/operations/registry/llm.ts'
import { activateTool, changeTool, createTool, getTool } from '../src/operations/registry/tools.ts'
import { openRegistry } from './support/open-worlds.ts'
import { draft } from './support/rest.ts'

let registry: Awaited<ReturnType<typeof openRegistry>>
beforeAll(async () => {
  registry = await openRegistry()
})
afterAll(() => registry.close())

const judge = (annotations: object) => invoke(validateDraft, draft('judged', { annotations }), registry.context)

describe('the annotations of a registered tool', () => {
  it('may be spelled as in configs, and are kept as MCP names them', async () => {
    const { context } = registry
    const annotations = {
      read_only: true,
      openWorld: false,
      idempotent_hint: true,
      requires_approval: true,
      title: 'A',
    }
    const made = await invoke(createTool, draft('spelled', { annotations }), context)
    const named = { readOnlyHint: true, openWorldHint: false, idempotentHint: true, requiresApproval: true, title: 'A' }
    expect(made.annotations).toEqual(named)
    const changed = await invoke(changeTool, { idOrName: 'spelled', annotations: { destructive: false } }, context)
    expect(changed.annotations).toEqual({ destructiveHint: false })
  })

  it('are refused where a hint is neither true nor false, or is there twice', async () => {
    for (const [annotations, pointer] of [
      [{ read_only: 'yes' }, '/annotations/read_only'],
      [{ requiresApproval: 'yes' }, '/annotations/requiresApproval'],
      [{ readOnly: true, readOnlyHint: false }, '/annotations/readOnly'],
    ] as const)
      expect(await judge(annotations)).toMatchObject({ valid: false, problems: [{ severity: 'error', pointer }] })
    for (const annotations of [{ readOnlyHint: 'yes' }, { title: 7 }, 7])
      await expect(invoke(createTool, draft('refused', { annotations }), registry.context)).rejects.toThrow(
        'annotations',
      )
  })

  it('are warned of where MCP does not know them', async () => {
    const { valid, problems } = await judge({ foo: 1, readOnlyHnit: true })
    expect([valid, problems.map(({ severity }) => severity)]).toEqual([true, ['warning', 'warning']])
    expect(problems[1]?.message).toBe("unknown annotation 'readOnlyHnit'. Did you mean 'readOnlyHint'?")
  })

  it('that were stored before this was checked can be read, and go out as MCP names them', async () => {
    const { context } = registry
    const { stores } = context.registry
    await invoke(createTool, draft('older'), context)
    const older = { read_only: true, destructive: 'no', foo: 1 }
    await stores.tools.change(context.caller, 'older', (tool) => ({ ...tool, annotations: older }), {})
    expect((await invoke(getTool, { idOrName: 'older' }, context)).annotations).toEqual(older)
    expect((await invoke(validateTool, { idOrName: 'older' }, context)).valid).toBe(false)
    const { tools } = await invoke(exportBundle, {}, context)
    expect(tools.find(({ name }) => name === 'older')?.annotations).toMatchObject({ readOnlyHint: true, foo: 1 })
    const kept = { read_only: true, foo: 1 }
    await stores.tools.change(context.caller, 'older', (tool) => ({ ...tool, annotations: kept }), {})
    await invoke(activateTool, { idOrName: 'older' }, context)
    await registry.sync()
    const { definition } = await invoke(getForModel, { name: 'older', format: 'mcp' }, context)
    expect(definition).toMatchObject({ annotations: { readOnlyHint: true } })
  })
})
