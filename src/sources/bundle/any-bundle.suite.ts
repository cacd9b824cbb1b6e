import fc from 'fast-check'
import { Bundle } from '../../contract/bundle.ts'
import { findCategoryNameProblem } from '../../contract/registry.ts'
import { sortBundle } from './locate-bundle.ts'

const nastyTexts = [
  ...[
    'true',
    'null',
    '~',
    '1',
    '1.0',
    '0x1F',
    '1e5',
    '.inf',
    '-',
    '- a',
    'a: b',
    'a #b',
    '# a',
    '#',
    '{a}',
    '[a]',
    '|',
    '>',
  ],
  ...[
    '  lead',
    'trail  ',
    '\ttab',
    'a\tb',
    'a\r\nb\r\n',
    'a\rb',
    'a\n\n\nb\n\n',
    '\n',
    '\n a',
    'a\n  b\n c',
    'a\n \n',
    'a\n\tb\n',
  ],
  ...[
    '👩‍👩‍👧 ok',
    '\ud800',
    '\0',
    '\u2028',
    '\ufeffa',
    '\u0085',
    'x'.repeat(5000),
    '"',
    "'",
    "'a'",
    '"a"',
    '\\n',
    '%a',
    '@a',
    '`a`',
  ],
  ...[
    '---',
    '...',
    'a\n---\nb',
    '!tag',
    '&a',
    '*a',
    '<<',
    '? a',
    ': a',
    'no',
    'Yes',
    '2001-01-01',
    '12:30',
    '[['.repeat(300),
  ],
  ...['- '.repeat(300), 'a: '.repeat(600), `def main():\n${' '.repeat(500)}x\n`, '__proto__', '', ' '],
]
const text = fc.oneof(fc.constantFrom(...nastyTexts), fc.string({ unit: 'binary' }), fc.string(), lines())
const some = text.filter((value) => value.trim() !== '')
const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'prototype', 'k'.repeat(2000), 'type'))
const { json } = fc.letrec<{ json: unknown; list: unknown[]; map: object }>((tie) => ({
  json: fc.oneof({ maxDepth: 3 }, text, fc.boolean(), fc.constant(null), number(), tie('list'), tie('map')),
  list: fc.array(tie('json'), { maxLength: 3 }),
  map: fc.array(fc.tuple(key, tie('json')), { maxLength: 3 }).map(toObject),
}))
/** Any object; `__proto__` is no key of the object itself, only of those inside. */
const object = fc
  .array(
    fc.tuple(
      key.filter((name) => name !== '__proto__'),
      json,
    ),
    { maxLength: 4 },
  )
  .map(toObject)

function lines() {
  return fc.array(fc.string({ maxLength: 12 }), { maxLength: 6 }).map((parts) => parts.join('\n'))
}

function number() {
  return fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((value) => value + 0 || 0)
}

/** An object with these keys of its own, whatever they are called. */
function toObject(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries)
}

const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const short = some.map((value) => value.slice(0, 100)).filter((value) => value.trim() !== '')
const categoryName = short.filter((value) => findCategoryNameProblem(value.trim()) === undefined)
const name = fc.stringMatching(/^[a-z0-9_]{1,12}$/)

const tool = (categories: readonly string[]) =>
  fc.record(
    {
      name,
      displayName: short,
      description: some,
      inputSchema: object,
      outputSchema: object,
      tags: fc.array(short, { maxLength: 3 }),
      category: fc.constantFrom(null, ...categories),
      namespace: nullable(name),
      status: fc.constantFrom('DRAFT', 'ACTIVE', 'DISABLED', 'DEPRECATED'),
      executorType: fc.constantFrom('python', 'shell', 'http', 'mcp', 'cli'),
      executorConfig: object,
      scriptContent: nullable(text),
      summary: nullable(short),
      notes: nullable(text),
      exampleRequests: fc.array(short, { maxLength: 2 }),
      examples: fc.array(fc.record({ description: short, args: fc.constant({ a: [1, 'x'] }) }), { maxLength: 2 }),
      icons: fc.array(fc.record({ src: fc.webUrl(), more: json }, { requiredKeys: ['src'] }), { maxLength: 2 }),
      _meta: fc.dictionary(fc.constantFrom('a', 'com.example/b.c', 'Z_9'), json, { maxKeys: 2 }),
      annotations: fc.record({ readOnlyHint: fc.boolean(), more: json }, { requiredKeys: [] }),
      changelog: nullable(text.map((value) => value.slice(0, 2000))),
    },
    { requiredKeys: ['name', 'displayName', 'description', 'inputSchema'] },
  )

const policy = fc.record({
  name: short,
  policy: fc.record({
    default: fc.constantFrom('enabled', 'disabled'),
    executor: fc.constantFrom({}, { type: 'docker', image: 'a/b:1', workingDir: '/w', volumes: ['$A:/b'] }),
    tools: fc.dictionary(name, fc.constantFrom({}, { description: '1', args: { a: { pattern: '^a.*$', max: 3 } } })),
  }),
})

const slug = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}$/)
const words = fc.array(short, { maxLength: 3 })
const toolset = fc.record(
  {
    name: slug,
    description: text.map((each) => each.slice(0, 2000)),
    filter: fc.record({ namespaces: words, tags: words, categories: words, names: words }, { requiredKeys: [] }),
    policy: policy.map((each) => each.policy),
    mode: fc.constantFrom('progressive', 'classic'),
    codeMode: fc.boolean(),
    callers: fc.array(fc.constantFrom('ci', 'sub:a', 'group:b'), { maxLength: 2 }),
  },
  { requiredKeys: ['name'] },
)
const limit = fc.record(
  {
    name: short,
    caller: short,
    tool: name,
    callsPerMinute: fc.nat(1_000_000),
    callsPerDay: fc.nat(2_000_000_000),
    tokensPerDay: fc.maxSafeNat(),
  },
  { requiredKeys: ['name', 'callsPerDay'] },
)

const texts = fc.dictionary(fc.constantFrom('MODE', 'PATH_OF_DATA', 'X_ORG'), text, { maxKeys: 2 })
const server = fc.oneof(
  fc.record(
    {
      command: short,
      args: fc.array(text, { maxLength: 2 }),
      env: texts,
      cwd: text,
      isolation: fc.constantFrom('isolated', 'confined'),
      folders: fc.array(short, { maxLength: 2 }),
      network: fc.boolean(),
    },
    { requiredKeys: ['command'] },
  ),
  fc.record(
    { url: fc.constant('https://mcp.example.com/mcp'), headers: texts, allowPrivate: fc.boolean() },
    { requiredKeys: ['url'] },
  ),
)
const source = fc.record(
  { name: fc.constantFrom('memory', 'docs', 'a_b'), trust: fc.constantFrom('hold', 'pinned'), server },
  { requiredKeys: ['name', 'server'] },
)

/** Trees of categories: each may be in one before it. */
const categories = fc
  .uniqueArray(
    categoryName.map((value) => value.trim()),
    { maxLength: 5 },
  )
  .chain((names) =>
    fc.tuple(
      ...names.map((own, index) =>
        fc.record({
          name: fc.constant(own),
          parent: fc.constantFrom(null, ...names.slice(0, index)),
          description: nullable(text),
        }),
      ),
    ),
  )

/** Any bundle that a registry could hold, hostile texts and keys included. */
export const anyBundle: fc.Arbitrary<Bundle> = categories.chain((given) =>
  fc
    .record({
      tooldex: fc.constant(1 as const),
      categories: fc.constant(given),
      tools: fc.uniqueArray(tool(given.map((category) => category.name)), {
        maxLength: 4,
        selector: (each) => each.name,
      }),
      policies: fc.uniqueArray(policy, { maxLength: 2, selector: (each) => each.name.trim() }),
      toolsets: fc.uniqueArray(toolset, { maxLength: 2, selector: (each) => each.name }),
      limits: fc.uniqueArray(limit, { maxLength: 2, selector: (each) => each.name.trim() }),
      sources: fc.uniqueArray(source, { maxLength: 2, selector: (each) => each.name }),
    })
    .map((input) => sortBundle(Bundle.parse(input))),
)
