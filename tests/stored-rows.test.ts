import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invoke } from '../src/operations/invoke.ts'
import { lintCatalog } from '../src/operations/lint/lint-catalog.ts'
import { exportBundle, importBundle } from '../src/operations/registry/bundles.ts'
import { searchTools } from '../src/operations/search/search-tools.ts'
import { writeBundle } from '../src/sources/bundle/index.ts'
import { routes } from '../src/surfaces/rest/routes.ts'
import { openRegistry } from './support/open-registry.ts'
import { run } from './support/query-database.ts'

// Postgres takes ids and texts that today's rules of writing refuse.
const ids = {
  tool: '11111111-1111-1111-1111-111111111111',
  kind: '12121212-1111-1111-1111-111111111111',
  category: '22222222-2222-2222-2222-222222222222',
  execution: '33333333-3333-3333-3333-333333333333',
  proposal: '44444444-4444-4444-4444-444444444444',
  key: '55555555-5555-5555-5555-555555555555',
}
const content = `input_schema, output_schema, tags, annotations, examples, example_requests, category_id`
const values = `'{"type": "object"}', '{}', '["a", 7, ""]', '{"readOnlyHint": "yes", "old": 1}',
  '[{"args": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}}, 3]', '[""]', '${ids.category}'`
const rows = `
  insert into tool_categories (id, name) values ('${ids.category}', 'tree');
  insert into tools (id, name, display_name, description, status, executor_type, executor_config, ${content})
    values ('${ids.tool}', 'migrated', '', '', 'ACTIVE', 'shell', '{"command": ["echo"], "cwdd": 1}', ${values});
  insert into tools (id, name, display_name, description, status, executor_type, ${content})
    values ('${ids.kind}', 'newer_kind', 'x', 'x', 'DRAFT', 'grpc', ${values});
  insert into tool_versions (id, tool_id, version, name, display_name, description, executor_type, ${content})
    values ('${ids.key}', '${ids.tool}', 1, 'migrated', '', '', 'shell', ${values});
  insert into tool_proposals (id, tool_id, base_version, change)
    values ('${ids.proposal}', '${ids.tool}', 1, '{"description": "", "gone": 1}');
  insert into tool_executions (id, tool_id, tool_name, version, status, input_data, isolation)
    values ('${ids.execution}', '${ids.tool}', 'migrated', 1, 'SUCCESS', '[]', 'jail');
  insert into policies (name, policy) values ('newer', '{"default": "enabled", "quota": 3, "callers": ["other"]}');
  insert into api_keys (id, name, prefix, hash, scopes) values ('${ids.key}', 'newer', 'x', 'x', '["audit"]')`

let registry: Awaited<ReturnType<typeof openRegistry>>
const get = async (path: string) => {
  const headers = { authorization: 'Bearer tdx_a_key_for_tests_only_0123456789' }
  const response = await registry.app.request(`http://localhost/api/v1${path}`, { headers })
  return { status: response.status, body: (await response.json()) as Record<string, never> }
}

beforeAll(async () => {
  registry = await openRegistry()
  await run(registry.database, rows)
  await registry.sync()
})
afterAll(() => registry.close())

describe('rows that were stored under other rules', () => {
  const byParameter: Readonly<Record<string, string>> = { idOrName: ids.tool, name: 'migrated', version: '1', key: 'x' }
  const byTag: Readonly<Record<string, string>> = {
    categories: ids.category,
    executions: ids.execution,
    proposals: ids.proposal,
    policies: 'newer',
    keys: ids.key,
  }
  const readable = routes.filter(({ http }) => http.method === 'get' && !/backup|events|metrics/.test(http.path))

  it.each(readable.map(({ http }) => [http.path, http.tag] as const))('are read by GET %s', async (path, tag) => {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      byTag[tag ?? ''] !== undefined && name !== 'version' && !path.startsWith('/tools/')
        ? String(byTag[tag ?? ''])
        : (byParameter[name] ?? ids.tool),
    )
    expect((await get(filled)).status, filled).toBeLessThan(500)
  })

  it('are shown as they are', async () => {
    const tools = await get('/tools?sort=name')
    expect(tools.body.items).toMatchObject([
      {
        id: ids.tool,
        name: 'migrated',
        description: '',
        displayName: '',
        categoryId: ids.category,
        tags: ['a', '7', ''],
      },
      { id: ids.kind, name: 'newer_kind', executorType: 'grpc' },
    ])
    const versions = await get('/tools/migrated/versions')
    expect(versions.body.items).toMatchObject([{ id: ids.key, toolId: ids.tool, content: { description: '' } }])
    expect((await get('/categories')).body.items).toMatchObject([{ id: ids.category, name: 'tree' }])
    expect((await get('/executions')).body.items).toMatchObject([{ id: ids.execution, isolation: 'jail' }])
    expect((await get('/tools/migrated/proposals')).body.items).toMatchObject([
      { change: { description: '', gone: 1 } },
    ])
    expect((await get('/policies')).body.items).toMatchObject([{ policy: { quota: 3, callers: ['other'] } }])
    expect((await get('/keys')).body.items).toContainEqual(expect.objectContaining({ scopes: ['audit'] }))
    expect((await get('/llm/tools')).body.tools).toMatchObject([{ name: 'migrated' }])
  })

  it('are found by search, exported, and changed by files that follow the rules', async () => {
    const { context } = registry
    expect(await invoke(searchTools, { query: 'migrated' }, context)).toMatchObject({ results: [{ name: 'migrated' }] })
    const bundle = await invoke(exportBundle, {}, context)
    expect(bundle.tools.map(({ name }) => name)).toEqual(['migrated', 'newer_kind'])
    expect(writeBundle(bundle, 'yaml')).toContain('quota: 3')
    const tool = { name: 'migrated', displayName: 'Migrated', description: 'Echoes.', inputSchema: { type: 'object' } }
    const fixed = { ...tool, executorType: 'shell' as const, executorConfig: { command: ['echo'] } }
    const plan = await invoke(importBundle, { bundle: { tooldex: 1 as const, tools: [fixed] }, dryRun: true }, context)
    expect(plan.diffs).toMatchObject([{ tool: 'migrated' }])
  })

  it('are flagged by lint, with the place', async () => {
    const { findings } = await invoke(lintCatalog, {}, registry.context)
    const stored = findings.filter(({ rule }) => rule === 'stored-invalid')
    const messages = stored.map(({ tool, message }) => `${tool} ${message}`)
    for (const place of ['/id', '/description', '/displayName', '/tags/2', '/examples/0'])
      expect(messages).toContainEqual(expect.stringContaining(`migrated ${place}`))
    expect(messages).toContainEqual(expect.stringContaining('newer_kind /executorType'))
    expect(messages).toContainEqual(expect.stringContaining("policy:newer the input has the unknown key 'quota'"))
    expect(messages).toContainEqual(expect.stringContaining('category:tree'))
    expect(stored.map(({ severity }) => severity)).not.toContain('info')
  })

  it('hide the tools of callers that an unreadable policy binds, and of no others', async () => {
    const list = (actor: string) => {
      const scopes = new Set(['read'] as const)
      return invoke(
        searchTools,
        { query: 'migrated' },
        { ...registry.context, scopes, caller: { workspace: 'default', actor } },
      )
    }
    expect((await list('key:another')).results).toHaveLength(1)
    expect((await list('key:other')).results).toHaveLength(0)
  })
})
