import { hostileArguments, hostileSchema, hostileText, hostileValue, paths, patterns } from './hostile.ts'
import type { Random } from './random.ts'
import { httpTool, toolDraft } from './tools.ts'

const modes = ['substring', 'bm25', 'embedding', 'hybrid'] as const

/** Inputs where a plain sample would hardly ever get past the first check. */
export const specials: Readonly<Record<string, (random: Random) => Record<string, unknown>>> = {
  'registry.create': toolDraft,
  'registry.validateDraft': toolDraft,
  'registry.change': (random) => {
    const { name: _name, ...draft } = toolDraft(random)
    const keys = Object.keys(draft)
    return random.chance(0.5) ? { inputSchema: hostileSchema(random) } : { [random.pick(keys)]: hostileValue(random) }
  },
  'proposals.create': (random) => ({ change: { inputSchema: hostileSchema(random), notes: 'proposed' } }),
  'tools.execute': callBody('input'),
  'llm.invoke': callBody('arguments'),
  'tools.search': (random) => ({
    query: hostileText(random).slice(0, 31_000),
    limit: random.pick([1, 20, 100]),
    mode: random.pick(modes),
    facets: random.chance(0.5),
  }),
  'results.read': (random) =>
    random.pick([{ grep: random.pick(patterns) }, { path: random.pick(paths) }, { offset: 10, limit: 100 }]),
  'bundle.import': (random) => (random.chance(0.3) ? openApiImport(random) : bundleImport(random)),
  'catalog.eval': (random) => ({
    queries: Array.from({ length: random.pick([1, 20, 200]) }, () => ({
      query: hostileText(random).slice(0, 1000) || 'echo',
      relevant: random.pick([[], ['echo_text'], ['echo_text', 'x'.repeat(500)]]),
    })),
    mode: random.pick(modes),
    limit: random.pick([1, 100]),
  }),
  'versions.diffChange': (random) => {
    const { name: _name, ...draft } = toolDraft(random)
    return random.chance(0.5) ? { inputSchema: hostileSchema(random) } : draft
  },
  'policies.simulate': (random) => ({ policy: policyOf(random), limit: random.pick([1, 100]) }),
  'toolsets.put': (random) => ({
    filter: random.pick([{}, { names: ['echo_text'] }, { tags: [hostileText(random).slice(0, 200) || 'x'] }]),
    policy: policyOf(random),
    mode: random.pick(['progressive', 'classic', 'pinned']),
    codeMode: random.chance(0.5),
  }),
  // A low limit would refuse the calls of all requests after it.
  'limits.put': (random) => ({ tool: random.pick(['echo_text', '*']), callsPerDay: 2_000_000_000 }),
  'upstreams.request': (random) => ({
    method: random.pick(['prompts/get', 'resources/read', 'completion/complete']),
    params: random.pick<object>([
      { name: hostileText(random).slice(0, 500) },
      { name: 'lists.prompt_1', arguments: { text: hostileText(random) } },
      { uri: random.pick(['lists+file:///1', hostileText(random).slice(0, 500)]) },
      { ref: { type: 'ref/prompt', name: 'lists.prompt_1' }, argument: { name: 'a', value: hostileText(random) } },
    ]),
  }),
  // Nothing listens there, and no request knows the hash to approve.
  'sources.add': (random) => ({
    name: `source-${random.below(40)}`,
    url: 'http://127.0.0.1:1/mcp',
    allowPrivate: random.chance(0.7),
    headers: { authorization: hostileText(random).slice(0, 1000), 'x-a': 'secret:token' },
  }),
  'sources.accept': (random) => random.pick([{}, { items: ['tools/echo', hostileText(random).slice(0, 1000)] }]),
  'sources.refuse': (random) => random.pick([{}, { items: ['tools/echo'] }]),
  'policies.put': (random) => ({
    document: { tools: { echo_text: { args: { text: { pattern: random.pick(patterns), max: 10 } } } } },
    policy: { tools: { echo_text: { args: { text: { pattern: random.pick(patterns) } } } } },
  }),
  'secrets.put': (random) => ({ value: hostileText(random) }),
  'categories.create': (random) => ({ name: `category_${random.below(500)}` }),
  'keys.create': (random) => ({ name: `spare_${random.below(1e6)}`, scopes: ['read'] }),
}

function callBody(name: string): (random: Random) => Record<string, unknown> {
  return (random) => ({
    [name]: random.chance(0.3) ? { text: 'aaa' } : hostileArguments(random),
    ...(random.chance(0.7) ? { wait: true } : {}),
    ...(random.chance(0.2) ? { dryRun: true } : {}),
    ...(random.chance(0.1) ? { version: 1 } : {}),
    ...(random.chance(0.1) ? { timeoutMs: 500 } : {}),
  })
}

const policyOf = (random: Random) => ({
  default: random.pick(['enabled', 'disabled']),
  tools: { echo_text: { args: { text: { pattern: random.pick(patterns) } } } },
})

const bundleImport = (random: Random) => ({
  bundle: {
    tooldex: 1,
    tools: Array.from({ length: random.pick([1, 5, 200]) }, () => random.pick([toolDraft, httpTool])(random)),
    policies: random.chance(0.3)
      ? [{ tools: { 'echo_*': { args: { text: { pattern: random.pick(patterns) } } } } }]
      : [],
  },
  dryRun: random.chance(0.7),
})

/** A document of an API, with schemas that are up to no good. */
const openApiImport = (random: Random) => ({
  text: JSON.stringify({
    openapi: random.pick(['3.1.0', '3.0.3', '2.0', '9']),
    info: { title: `API ${random.below(20)}`, version: '1' },
    servers: [{ url: random.pick(['https://example.com/', 'http://127.0.0.1/', '{scheme}://x', '']) }],
    paths: Object.fromEntries(
      Array.from({ length: random.pick([1, 100]) }, (_, at) => [
        `/items_${at}/{id}`,
        {
          get: {
            operationId: `op_${random.below(300)}`,
            summary: hostileText(random).slice(0, 300),
            parameters: [{ name: 'id', in: 'path', required: true, schema: hostileSchema(random) }],
          },
        },
      ]),
    ),
  }),
  dryRun: random.chance(0.8),
})

const programs = [
  'return 1',
  'for (;;) {}',
  'const all = []; for (;;) all.push("x".repeat(1e6))',
  'for (;;) console.log("x".repeat(1000))',
  'const again = () => again(); again()',
  'return "x".repeat(3e6)',
  'let deep = 1; for (let at = 0; at < 5000; at++) deep = [deep]; return deep',
  'return await tools.echo_text({ text: "aaa" })',
  'return await Promise.all(Array.from({ length: 50 }, () => tools.echo_text({ text: "b" })))',
  'return await tools.strict_text({ text: "a".repeat(6000) })',
  'return [await search("echo"), await describe("echo_text")]',
  'return await tools["tooldex:run_code"]({ code: "return 1" })',
  'throw new Error("x".repeat(1e6))',
] as const

/** The input of the tool that runs programs. */
export const programCall = (random: Random) => ({
  input: {
    code: random.chance(0.9) ? random.pick(programs) : hostileText(random),
    timeoutMs: random.pick([1, 30, 400]),
  },
  wait: true,
})
