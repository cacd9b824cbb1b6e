import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { exportBundle, importBundle } from '../src/operations/registry/bundles.ts'
import { getForModel } from '../src/operations/registry/definitions.ts'
import { acceptProposal, proposeChange } from '../src/operations/registry/proposals.ts'
import { activateTool, changeTool, createTool, getTool } from '../src/operations/registry/tools.ts'
import { validateDraft, validateTool } from '../src/operations/registry/validate-tool.ts'
import { diffVersions } from '../src/operations/registry/versions.ts'
import { openRegistry } from './support/open-registry.ts'
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
    expect(tools.find(({ name }) => name === 'older')?.annotations).toEqual(older)
    const kept = { read_only: true, foo: 1 }
    await stores.tools.change(context.caller, 'older', (tool) => ({ ...tool, annotations: kept }), {})
    await invoke(activateTool, { idOrName: 'older' }, context)
    await registry.sync()
    const { definition } = await invoke(getForModel, { name: 'older', format: 'mcp' }, context)
    expect(definition).toMatchObject({ annotations: { readOnlyHint: true } })
  })
})

describe('the icons and metadata of a registered tool', () => {
  const icons = [{ src: 'https://example.org/i.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' as const }]
  const _meta = { 'com.example/zeta': { b: 1, a: [2] }, alpha: null }

  it('are kept by versions, proposals and bundles, and go out to MCP clients', async () => {
    const { context } = registry
    const made = await invoke(createTool, draft('drawn', { icons, _meta }), context)
    expect(JSON.stringify([made.icons, made._meta])).toBe(JSON.stringify([icons, _meta]))
    const { id } = await invoke(proposeChange, { idOrName: 'drawn', change: { _meta: { alpha: 1 } } }, context)
    await invoke(acceptProposal, { id }, context)
    const difference = await invoke(diffVersions, { idOrName: 'drawn' }, context)
    expect(difference).toMatchObject({ class: 'wording', fields: [{ field: '_meta', before: _meta }] })
    const exported = await invoke(exportBundle, {}, context)
    const tool = exported.tools.find(({ name }) => name === 'drawn')
    expect(tool).toMatchObject({ icons, _meta: { alpha: 1 } })
    const copy = { tooldex: 1 as const, tools: [{ ...tool, name: 'drawn_copy', status: 'ACTIVE' as const }] }
    await invoke(importBundle, { bundle: copy }, context)
    await registry.sync()
    const { definition } = await invoke(getForModel, { name: 'drawn_copy', format: 'mcp' }, context)
    expect(definition).toMatchObject({ icons, _meta: { alpha: 1 } })
  })

  it('are refused where a URL, a key or their size does not fit', async () => {
    for (const [fields, place] of [
      [{ icons: [{ src: 'javascript:alert(1)' }] }, 'icons[0].src'],
      [{ icons: [{ src: 'file:///etc/passwd' }] }, 'icons[0].src'],
      [{ icons: [{ src: `data:image/png;base64,${'a'.repeat(70_000)}` }] }, 'icons'],
      [{ _meta: { 'a b': 1 } }, '_meta'],
      [{ _meta: { '1x.y/z': 1 } }, '_meta'],
      [{ _meta: { big: 'x'.repeat(17_000) } }, '_meta'],
    ] as const)
      await expect(invoke(createTool, draft('refused', fields), registry.context)).rejects.toThrow(place)
  })
})
