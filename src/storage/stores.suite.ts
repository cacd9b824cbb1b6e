import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Policy } from '../contract/policy.ts'
import { type ToolContent, ToolDraft } from '../contract/registry.ts'
import type { Caller, Stores } from '../contract/stores.ts'
import { Toolset } from '../contract/toolset.ts'

const caller: Caller = { workspace: 'default', actor: 'tester' }
let names = 0

/** A valid tool of a new name. */
export function newTool(change: Partial<ToolDraft> = {}): ToolContent {
  return ToolDraft.parse({
    name: `tool_${++names}`,
    displayName: 'A tool',
    description: 'Does something',
    inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
    executorType: 'shell',
    executorConfig: { command: ['echo', '{{q}}'] },
    ...change,
  })
}

/** What every engine must do. */
export function describeStores(name: string, open: () => Promise<{ stores: Stores; close(): Promise<void> }>): void {
  describe(`stores: ${name}`, () => {
    let stores: Stores
    let close: (() => Promise<void>) | undefined
    beforeAll(async () => {
      const opened = await open()
      stores = opened.stores
      close = opened.close
    })
    afterAll(() => close?.())

    it('keeps a tool with everything it has, and gives it back by id and by name', async () => {
      const content = newTool({
        tags: ['a', 'ü'],
        namespace: 'ops',
        summary: 'short',
        exampleRequests: ['do it'],
        examples: [{ description: 'one', args: { q: 'x' } }],
        notes: 'n',
        externalRefs: ['https://example.org'],
        annotations: { readOnlyHint: true },
        icons: [{ src: 'https://example.org/i.png', sizes: ['48x48'], extra: 1 }],
        _meta: { 'com.example/zeta': { b: 1, a: [2] }, alpha: null },
        inputModes: ['application/json'],
        outputModes: ['text/plain'],
        securitySummary: 'none',
        outputSchema: { type: 'string' },
        scriptContent: 'def main(x):\n  return "\\u2028 ok"\n',
      })
      const tool = await stores.tools.create(caller, content)
      expect(tool).toMatchObject({ ...content, status: 'DRAFT', version: 1 })
      expect(await stores.tools.get('default', tool.id)).toEqual(tool)
      expect(await stores.tools.get('default', tool.name)).toEqual(tool)
      const version = await stores.tools.version('default', tool.id, 1)
      expect(version).toMatchObject({ content, isLatest: true, createdBy: 'tester', updatedAt: version?.createdAt })
      expect(version?.id).toMatch(/^[0-9a-f-]{36}$/)
    })

    it('keeps the order of keys wherever JSON of a user is stored', async () => {
      const written = {
        zeta: { type: 'string' },
        a: { type: 'string' },
        mid: { type: 'object', properties: { b: {}, aa: {} } },
      }
      const content = newTool({
        inputSchema: { type: 'object', required: ['zeta'], properties: written },
        outputSchema: { title: 'out', properties: written },
        executorConfig: { timeoutMs: 1, env: { ZZ: '1', A: '2' }, command: ['echo'] },
        examples: [{ description: 'one', args: { zeta: 1, a: 2 } }],
      })
      const tool = await stores.tools.create(caller, content)
      const proposal = await stores.proposals.create(caller, {
        toolId: tool.id,
        baseVersion: 1,
        change: { inputSchema: { title: 'x', properties: written } },
        reason: undefined,
        changelog: undefined,
      })
      const policy = Policy.parse({ default: 'enabled', tools: { zeta: {}, a: {} } })
      await stores.policies.put(caller, { name: 'in-order', policy })
      await stores.answers.claim(caller, 'in-order', 'hash')
      await stores.answers.keep(caller, 'in-order', { status: 200, body: written })
      const { items: audit } = await stores.audit.list('default', { limit: 100 })
      const created = audit.find(({ subject }) => subject === `tool:${tool.name}`)?.after as ToolContent
      const stored = [
        await stores.tools.get('default', tool.name),
        (await stores.tools.version('default', tool.id, 1))?.content,
        (await stores.tools.list('default', { limit: 100, search: tool.name })).items[0],
        created,
      ]
      const ordered = ({ inputSchema, outputSchema, executorConfig, examples }: ToolContent) =>
        JSON.stringify([inputSchema, outputSchema, executorConfig, examples])
      expect(stored.map((one) => ordered(one as ToolContent))).toEqual(stored.map(() => ordered(content)))
      expect(JSON.stringify((await stores.proposals.get('default', proposal.id))?.change)).toBe(
        JSON.stringify({ inputSchema: { title: 'x', properties: written } }),
      )
      expect(Object.keys((await stores.policies.get('default', 'in-order'))?.policy.tools ?? {})).toEqual(['zeta', 'a'])
      const answer = await stores.answers.claim(caller, 'in-order', 'hash')
      expect(JSON.stringify(answer)).toBe(JSON.stringify({ status: 200, body: written }))
      await stores.policies.remove(caller, 'in-order')
    })

    it('makes a version of another order of keys', async () => {
      const tool = await stores.tools.create(caller, newTool({ inputSchema: { properties: { a: {}, b: {} } } }))
      const inputSchema = { properties: { b: {}, a: {} } }
      const { changed } = await stores.tools.change(caller, tool.id, (now) => ({ ...contentOf(now), inputSchema }))
      const now = await stores.tools.get('default', tool.id)
      expect([changed, now?.version, JSON.stringify(now?.inputSchema)]).toEqual([true, 2, JSON.stringify(inputSchema)])
    })

    it('refuses a second tool of the same name, and makes one of fifty that are created at once (fault 78)', async () => {
      const content = newTool()
      const results = await Promise.allSettled(Array.from({ length: 50 }, () => stores.tools.create(caller, content)))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
      expect(new Set(reasons)).toEqual(new Set(['NAME_TAKEN']))
    })

    it('numbers versions without gaps, one of them latest, under a hundred changes at once (fault 75)', async () => {
      const tool = await stores.tools.create(caller, newTool())
      const change = (at: number) =>
        stores.tools.change(caller, tool.id, (now) => ({ ...contentOf(now), description: `change ${at}` }))
      await Promise.all(Array.from({ length: 100 }, (_, at) => change(at)))
      const now = await stores.tools.get('default', tool.id)
      expect(now?.version).toBe(101)
      const { items } = await stores.tools.versions('default', tool.id, { limit: 200 })
      expect(items.map(({ version }) => version)).toEqual(Array.from({ length: 101 }, (_, at) => 101 - at))
      expect(items.filter(({ isLatest }) => isLatest).map(({ version }) => version)).toEqual([101])
      expect(items[0]?.content.description).toBe(now?.description)
    })

    it('makes no version of a change that changes nothing, and refuses one made on an old version (fault 30)', async () => {
      const tool = await stores.tools.create(caller, newTool())
      const same = await stores.tools.change(caller, tool.id, contentOf)
      expect([same.changed, same.tool.version]).toEqual([false, 1])
      const stale = stores.tools.change(caller, tool.id, contentOf, { expectedVersion: 7 })
      await expect(stale).rejects.toMatchObject({ code: 'STALE' })
    })

    it('changes nothing at all where a change fails half way', async () => {
      const tool = await stores.tools.create(caller, newTool())
      const failing = stores.tools.change(caller, tool.id, (now) => ({
        ...contentOf(now),
        categoryId: '00000000-0000-4000-8000-000000000000',
      }))
      await expect(failing).rejects.toMatchObject({ code: 'TOOL_INVALID' })
      expect(await stores.tools.get('default', tool.id)).toEqual(tool)
    })

    it('takes legal steps only, also in a race (faults 29, 79)', async () => {
      const tool = await stores.tools.create(caller, newTool())
      const illegal = stores.tools.transition(caller, tool.id, 'deprecate')
      await expect(illegal).rejects.toMatchObject({
        code: 'ILLEGAL_STEP',
        message: expect.stringContaining('activate'),
      })
      const racing = await Promise.allSettled(
        Array.from({ length: 20 }, (_, at) =>
          stores.tools.transition(caller, tool.id, at % 2 === 0 ? 'activate' : 'deactivate'),
        ),
      )
      expect(racing.some(({ status }) => status === 'fulfilled')).toBe(true)
      const { items } = await stores.audit.list('default', { limit: 100, subject: `tool:${tool.name}` })
      const history = items.map(({ action }) => action).reverse()
      expect(history[0]).toBe('tool.create')
      const steps = history.slice(1)
      expect(steps.slice(0, 2)).toEqual(['tool.activate', 'tool.deactivate'].slice(0, steps.length))
    })

    it('deletes a tool with its versions, and records the actor', async () => {
      const tool = await stores.tools.create(caller, newTool())
      await stores.tools.remove(caller, tool.name)
      expect(await stores.tools.get('default', tool.id)).toBeUndefined()
      expect((await stores.tools.versions('default', tool.id, { limit: 5 })).items).toEqual([])
      const { items } = await stores.audit.list('default', { limit: 1, subject: `tool:${tool.name}` })
      expect(items[0]).toMatchObject({ action: 'tool.delete', actor: 'tester' })
    })

    it('lists page by page, losing and repeating nothing, while others add', async () => {
      const tag = `page_${++names}`
      for (let at = 0; at < 25; at++) await stores.tools.create(caller, newTool({ tags: [tag] }))
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await stores.tools.list('default', { limit: 7, tags: [tag], sort: 'name', cursor })
        seen.push(...page.items.map(({ id }) => id))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(new Set(seen).size).toBe(25)
      expect(seen).toHaveLength(25)
      const numbered = (page: number) => stores.tools.list('default', { limit: 7, tags: [tag], sort: 'name', page })
      const pages = await Promise.all([1, 2, 3, 4, 5].map(numbered))
      expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(seen)
      const cursorOfThird = pages[2]?.nextCursor
      const fourth = await stores.tools.list('default', { limit: 7, tags: [tag], sort: 'name', cursor: cursorOfThird })
      expect(fourth).toEqual(pages[3])
      const first = await stores.tools.list('default', { limit: 7, tags: [tag], sort: 'name' })
      const foreign = stores.tools.list('default', {
        limit: 7,
        tags: ['other'],
        sort: 'name',
        cursor: first.nextCursor,
      })
      await expect(foreign).rejects.toMatchObject({ code: 'CURSOR_INVALID' })
      const tampered = stores.tools.list('default', {
        limit: 7,
        tags: [tag],
        sort: 'name',
        cursor: `${first.nextCursor}x`,
      })
      await expect(tampered).rejects.toMatchObject({ code: 'CURSOR_INVALID' })
    })

    it('looks for texts letter for letter, percent signs and underscores too (fault 24)', async () => {
      const odd = await stores.tools.create(caller, newTool({ description: `100%_sure\\ '; drop table tools; --` }))
      const find = async (search: string) =>
        (await stores.tools.list('default', { limit: 100, search })).items.map(({ id }) => id)
      expect(await find('100%_sure\\')).toEqual([odd.id])
      expect(await find("'; DROP table")).toEqual([odd.id])
      expect(await find('%%%')).toEqual([])
    })

    it('keeps the tree of categories free of circles, also under moves at once (faults 28, 82)', async () => {
      const make = (parentId?: string) => stores.categories.create(caller, { name: `category_${++names}`, parentId })
      const [a, b] = [await make(), await make()]
      const child = await make(a.id)
      await expect(stores.categories.change(caller, a.id, { parentId: child.id })).rejects.toMatchObject({
        code: 'ILLEGAL_STEP',
      })
      const moves = await Promise.allSettled([
        stores.categories.change(caller, a.id, { parentId: b.id }),
        stores.categories.change(caller, b.id, { parentId: a.id }),
      ])
      expect(moves.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    it('counts tools of a subtree, and deletes a category only when it is empty or its tools are moved', async () => {
      const top = await stores.categories.create(caller, { name: `category_${++names}` })
      const below = await stores.categories.create(caller, { name: `category_${++names}`, parentId: top.id })
      const tool = await stores.tools.create(caller, newTool({ categoryId: below.id }))
      const counted = (await stores.categories.all('default')).find(({ id }) => id === top.id)
      expect([counted?.tools, counted?.toolsBelow]).toEqual([0, 1])
      const inTree = await stores.tools.list('default', { limit: 5, categoryId: top.id })
      expect(inTree.items.map(({ id }) => id)).toEqual([tool.id])
      await expect(stores.categories.remove(caller, below.id, { reparent: false })).rejects.toMatchObject({
        code: 'IN_USE',
      })
      await stores.categories.remove(caller, below.id, { reparent: true })
      const moved = await stores.tools.get('default', tool.id)
      expect([moved?.categoryId, moved?.version]).toEqual([top.id, 2])
      expect((await stores.tools.version('default', tool.id, 2))?.content.categoryId).toBe(top.id)
    })

    it('renames a tag on every tool, each with a version', async () => {
      const [from, to] = [`tag_${++names}`, `tag_${++names}`]
      const tool = await stores.tools.create(caller, newTool({ tags: [from, 'other', to] }))
      expect(await stores.tools.renameTag(caller, from, to)).toBe(1)
      expect(await stores.tools.get('default', tool.id)).toMatchObject({ tags: [to, 'other'], version: 2 })
      expect((await stores.tools.tags('default')).find(({ tag }) => tag === to)?.tools).toBe(1)
    })

    it('decides a proposal once', async () => {
      const tool = await stores.tools.create(caller, newTool())
      const draft = { toolId: tool.id, baseVersion: 1, change: { description: 'better' }, reason: 'why' }
      const proposal = await stores.proposals.create(caller, draft)
      expect(await stores.proposals.get('default', proposal.id)).toMatchObject({ ...draft, status: 'OPEN' })
      await stores.proposals.decide(caller, proposal.id, { status: 'REFUSED', note: 'no' })
      await expect(stores.proposals.decide(caller, proposal.id, { status: 'ACCEPTED' })).rejects.toMatchObject({
        code: 'ILLEGAL_STEP',
      })
      expect((await stores.proposals.list('default', tool.id, { limit: 5 })).items[0]).toMatchObject({ decision: 'no' })
    })

    it('keeps policies by name, each change on record', async () => {
      const name = `policy_${++names}`
      const policy = Policy.parse({ tools: { git_log: { args: { max_count: { max: 10 } } } } })
      await stores.policies.put(caller, { name, policy })
      await stores.policies.put(caller, { name, policy: { ...policy, default: 'enabled' } })
      expect(await stores.policies.list('default')).toContainEqual({ name, policy: { ...policy, default: 'enabled' } })
      expect(await stores.policies.list('elsewhere')).toEqual([])
      await stores.policies.remove(caller, name)
      await expect(stores.policies.remove(caller, name)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      const { items } = await stores.audit.list('default', { limit: 9, subject: `policy:${name}` })
      expect(items.map(({ action }) => action)).toEqual(['policy.remove', 'policy.change', 'policy.create'])
    })

    it('finds a key by its hash until it is revoked or too old', async () => {
      const make = (hash: string, expiresAt?: string) =>
        stores.keys.create(caller, { name: `key_${++names}`, hash, prefix: 'tdx_', scopes: ['read'], expiresAt })
      const key = await make(`hash_${names}`)
      const hash = `hash_${names - 1}`
      expect(await stores.keys.find(hash)).toMatchObject({ id: key.id, scopes: ['read'] })
      await stores.keys.revoke(caller, key.name)
      expect(await stores.keys.find(hash)).toBeUndefined()
      await make('old', new Date(Date.now() - 1000).toISOString())
      expect(await stores.keys.find('old')).toBeUndefined()
    })

    it('reads a tool, policies and toolsets once in one state of the registry, and anew after every change', async () => {
      const hash = `hash_${++names}`
      await stores.keys.create(caller, { name: `key_${names}`, hash, prefix: 'tdx_', scopes: ['call'] })
      const stateNow = async () => (await stores.keys.find(hash))?.registryState ?? ''
      const tag = `tag_${names}`
      const { name } = await stores.tools.create(caller, newTool({ tags: [tag] }))
      const toolset = Toolset.parse({ name: `set_${names}`, filter: { names: [name] } })
      const policy = { policy: Policy.parse({ tools: { [name]: {} } }), name: `policy_${names}` }
      const read = async (state: string) =>
        Promise.all([
          stores.tools.get('default', name, state),
          stores.policies.list('default', state),
          stores.toolsets.list('default', state),
        ])
      const present = () =>
        Promise.all([
          stores.tools.get('default', name),
          stores.policies.list('default'),
          stores.toolsets.list('default'),
        ])
      const changes: readonly (() => Promise<unknown>)[] = [
        () => stores.tools.change(caller, name, (tool) => ({ ...tool, description: 'Does another thing' })),
        () => stores.tools.transition(caller, name, 'activate'),
        () => stores.tools.renameTag(caller, tag, `${tag}_again`),
        () => stores.policies.put(caller, policy),
        () => stores.policies.put(caller, { ...policy, policy: Policy.parse({ default: 'enabled' }) }),
        () => stores.policies.remove(caller, policy.name),
        () => stores.toolsets.put(caller, toolset),
        () => stores.toolsets.remove(caller, toolset.name),
        () => stores.transaction((inner) => inner.tools.transition(caller, name, 'deprecate')),
        () => stores.tools.remove(caller, name),
      ]
      for (const change of changes) {
        const state = await stateNow()
        const before = await read(state)
        for (const [at, kept] of (await read(await stateNow())).entries()) expect(kept).toBe(before[at])
        await change()
        const next = await stateNow()
        expect(next).not.toBe(state)
        const after = await read(next)
        expect(after).toEqual(await present())
        expect(after).not.toEqual(before)
      }
    })

    it('answers the same request under one key once, and refuses another under it', async () => {
      const key = `request_${++names}`
      const claims = await Promise.all(Array.from({ length: 20 }, () => stores.answers.claim(caller, key, 'body')))
      expect(claims.filter((claim) => claim === 'fresh')).toHaveLength(1)
      await stores.answers.keep(caller, key, { status: 201, body: { id: 1 } })
      expect(await stores.answers.claim(caller, key, 'body')).toEqual({ status: 201, body: { id: 1 } })
      expect(await stores.answers.claim(caller, key, 'another')).toBe('other-body')
    })

    it('learns from each workspace for itself, counts what comes again, and forgets on record', async () => {
      const [long, odd] = ['many words '.repeat(1000), 'zero \0 and half \ud83d']
      for (const query of ['print a text', 'print a text', long, odd])
        await stores.learning.note('default', query, 'core:echo')
      await stores.learning.note('default', 'print a text', 'core:printf')
      const { items, total } = await stores.learning.since('default')
      expect([items.length, total]).toEqual([4, 4])
      expect(items.find(({ query, toolId }) => query === 'print a text' && toolId === 'core:echo')?.successes).toBe(2)
      expect((await stores.learning.since('default', items.at(-1)?.learnedAt)).items.at(-1)).toEqual(items.at(-1))
      expect(await stores.learning.since('elsewhere')).toEqual({ items: [], total: 0 })
      expect(await stores.learning.forget(caller)).toBe(4)
      expect((await stores.learning.since('default')).total).toBe(0)
      const { items: record } = await stores.audit.list('default', { limit: 1, subject: 'learning' })
      expect(record[0]).toMatchObject({ action: 'learning.forget', actor: 'tester', before: { count: 4 } })
    })

    it('notifies listeners of a change, and counts it', async () => {
      const before = await stores.feed.version('default')
      let hear = (_workspace: string) => {}
      const heard = new Promise<string>((resolve) => {
        hear = resolve
      })
      await stores.feed.listen(hear)
      await stores.tools.create(caller, newTool())
      expect(await heard).toBe('default')
      expect(await stores.feed.version('default')).toBeGreaterThan(before)
    })

    it('makes many tools at once, all or none', async () => {
      const drafts = Array.from({ length: 1200 }, () => ({ content: newTool(), status: 'ACTIVE' as const }))
      await stores.tools.createMany(caller, drafts)
      const last = await stores.tools.get('default', drafts.at(-1)?.content.name ?? '')
      expect(last).toMatchObject({ status: 'ACTIVE', version: 1 })
      expect((await stores.tools.version('default', last?.id ?? '', 1))?.isLatest).toBe(true)
      const again = [{ content: newTool(), status: 'DRAFT' as const }, ...drafts.slice(0, 1)]
      await expect(stores.tools.createMany(caller, again)).rejects.toMatchObject({ code: 'NAME_TAKEN' })
      expect(await stores.tools.get('default', again[0]?.content.name ?? '')).toBeUndefined()
    })

    it('reads a page inside a transaction before any other was read', async () => {
      const opened = await open()
      const page = await opened.stores.transaction((inner) => inner.tools.list('default', { limit: 1 }))
      expect(page.items.length).toBeLessThanOrEqual(1)
      await opened.close()
    })

    it('undoes everything of a transaction that fails', async () => {
      const content = newTool()
      const failing = stores.transaction(async (inner) => {
        await inner.tools.create(caller, content)
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await stores.tools.get('default', content.name)).toBeUndefined()
    })
  })
}

function contentOf(
  tool: ToolContent & Partial<Record<'id' | 'status' | 'version' | 'createdAt' | 'updatedAt', unknown>>,
): ToolContent {
  const { id: _id, status: _status, version: _version, createdAt: _created, updatedAt: _updated, ...content } = tool
  return content
}
