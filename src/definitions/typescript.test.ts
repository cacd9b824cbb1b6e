import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { tempFolder } from '../../tests/support/temp-folder.ts'
import { buildInputSchema } from '../rules/build-input-schema.ts'
import { loadConfig } from '../sources/cli/index.ts'
import { type DeclaredTool, declareInTypeScript, typeLimits } from './typescript.ts'

const declare = (inputSchema: unknown, more: Partial<DeclaredTool> = {}) =>
  declareInTypeScript({ name: 'probe', description: 'Probes.', inputSchema, returnsText: true, ...more })

/** The errors of the TypeScript compiler for each text, compiled in one run as separate files. */
function compile(texts: readonly string[]): string[] {
  const folder = tempFolder()
  for (const [index, text] of texts.entries()) writeFileSync(join(folder, `${index}.ts`), `${text}\nexport {}\n`)
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'lib/tsc.js')
  const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'esnext', '--types', '', '--pretty', 'false']
  const files = readdirSync(folder)
  try {
    execFileSync(process.execPath, [tsc, ...flags, ...files], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
    return []
  } catch (error) {
    const lines = String((error as { stdout?: string }).stdout ?? error).split('\n')
    return lines.filter((line) => line.includes('error'))
  }
}

it('declares a tool as a method with documented, typed arguments', () => {
  const inputSchema = {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'A city.', maxLength: 80 },
      days: { type: 'integer', default: 3, minimum: 1 },
      units: { enum: ['metric', 'imperial'] },
      'x-trace': { type: ['string', 'null'] },
    },
    required: ['city'],
  }
  const outputSchema = { type: 'array', items: { type: 'object', properties: { high: { type: 'number' } } } }
  expect(declare(inputSchema, { name: 'get_forecast', description: 'Forecasts */ the weather.', outputSchema })).toBe(
    `interface Tools {
  /** Forecasts *\\/ the weather. */
  get_forecast(input: {
    /** A city. (maxLength 80) */
    city: string
    /** (default 3, minimum 1) */
    days?: number
    units?: "metric" | "imperial"
    "x-trace"?: string | null
  }): Promise<Array<{
    high?: number
  }>>
}`,
  )
})

it('returns text where a command prints it, and otherwise an unknown value', () => {
  const optional = { type: 'object', properties: { all: { type: 'boolean' } } }
  expect(declare(optional)).toContain('probe(input?: {')
  expect(declare(optional)).toContain('Promise<string>')
  expect(declare(optional, { returnsText: false })).toContain('Promise<unknown>')
})

const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' }, all: { $ref: '#' } } }
const odd: readonly unknown[] = [
  {},
  true,
  false,
  { type: 'object', additionalProperties: false },
  { type: 'object', properties: { a: { type: 'number' } }, additionalProperties: { type: 'string' } },
  { type: 'object', additionalProperties: { type: 'string' }, patternProperties: { '^x': { type: 'number' } } },
  { type: 'object', properties: { child: { $ref: '#/$defs/node' } }, $defs: { node } },
  { $ref: '#/$defs/node', $defs: { node } },
  { anyOf: [{ $ref: '#' }, { type: 'string' }] },
  { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } } },
  { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } },
  { type: 'array', items: { $ref: '#' } },
  { type: 'array', prefixItems: [{ type: 'string' }, { anyOf: [{ type: 'number' }, { type: 'null' }] }], items: false },
  { type: 'array', prefixItems: [{ type: 'string' }], minItems: 1, items: { $ref: '#' } },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    items: [{ type: 'string' }],
    additionalItems: { type: 'null' },
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    definitions: { 'a b/c': node },
    $ref: '#/definitions/a%20b~1c',
  },
  { oneOf: [{ required: ['a'] }, { required: ['b'] }], properties: { a: { const: 1 }, b: { const: null } } },
  { enum: ['a"b', "c'd", 'line\u2028end', 1, -1.5, true, null, { x: 1 }, [1]] },
  { enum: Array.from({ length: 500 }, (_, index) => `value ${index}`) },
  { type: 'object', required: ['__proto__', 'constructor', '0', 'a-b', '', 'ü', '*/'], properties: { '*/': true } },
  { type: 'object', properties: { a: { description: '*/ } evil: never; /* \n * `${1}` \u2028' } } },
  { type: 'strange', properties: 7, required: 'no', items: null, anyOf: {}, enum: [] },
  { $ref: '#/missing' },
]

it('writes TypeScript that compiles for odd, recursive and invalid schemas', () => {
  const texts = odd.flatMap((schema) => [
    declare(schema),
    declare({}, { outputSchema: schema, name: 'odd:name-1', description: 'x */ y' }),
  ])
  expect(compile(texts)).toEqual([])
})

it('writes TypeScript that compiles for the tools of bundled configs, merged into one interface', () => {
  const configs = ['git', 'docker', 'jq'].map((name) => loadConfig(name))
  const tools = configs.flatMap(({ tools }) => tools)
  expect(tools.length).toBeGreaterThan(20)
  const declared = tools.map((tool) =>
    declareInTypeScript({ ...tool, inputSchema: buildInputSchema(tool.args), returnsText: true }),
  )
  const use = 'declare const tools: Tools\nexport const log: Promise<string> = tools.git_log({ max_count: 3 })'
  const wrong = 'declare const tools: Tools\nexport const log = tools.git_log({ max_count: "three" })'
  expect(compile([[...declared, use].join('\n')])).toEqual([])
  expect(compile([[...declared, wrong].join('\n')]).join('\n')).toContain('TS2322')
})

it('writes TypeScript that compiles for random schemas', () => {
  const type = fc.constantFrom('string', 'integer', 'boolean', 'null', 'array', 'object')
  const name = fc.constantFrom('a', 'b', 'a b', '__proto__')
  const ref = fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/properties/a', '#/none')
  const { schema } = fc.letrec((tie) => {
    const some = tie('schema')
    const list = fc.array(some, { minLength: 1, maxLength: 3 })
    const map = fc.dictionary(name, some, { maxKeys: 3 })
    const words = { type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })), $ref: ref }
    const parts = {
      properties: map,
      additionalProperties: some,
      patternProperties: map,
      items: some,
      prefixItems: list,
    }
    const groups = { anyOf: list, oneOf: list, allOf: list, required: fc.uniqueArray(name, { maxLength: 2 }) }
    const defs = { $defs: fc.dictionary(fc.constantFrom('a', 'b'), some, { maxKeys: 2 }) }
    const keywords = fc.record({ ...words, ...parts, ...groups, ...defs }, { requiredKeys: [] })
    return { schema: fc.oneof({ maxDepth: 4 }, fc.boolean(), keywords) }
  })
  const schemas = fc.sample(schema, { numRuns: 300, seed: 7 })
  expect(compile(schemas.map((each) => declare(each, { outputSchema: each })))).toEqual([])
})

it('bounds the declaration of a large schema', () => {
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`property_${i}`, { type: 'string' }]))
  const deep = Array.from({ length: 60 }).reduce<object>((inner) => ({ type: 'array', items: inner }), {})
  const large = declare({ type: 'object', properties: { wide: { type: 'object', properties: wide }, deep } })
  expect(large.length).toBeLessThan(3 * typeLimits.characters)
  expect(compile([large])).toEqual([])
})
