import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { checkSchema, compileSchema, SchemaCache } from './index.ts'

const draft07 = 'http://json-schema.org/draft-07/schema#'
const check = (schema: unknown) => checkSchema(schema, '/inputSchema')
const pointers = (schema: unknown) => check(schema).map((problem) => problem.pointer)
const messages = (schema: unknown, value: unknown) =>
  compileSchema(schema)
    .validate(value)
    .problems.map((problem) => problem.message)
const nested = (depth: number) => {
  let schema: Record<string, unknown> = { type: 'string' }
  for (let level = 0; level < depth; level++) schema = { not: schema }
  return schema
}

describe('checkSchema', () => {
  it('names every wrong keyword with its pointer, in words of its own', () => {
    const problems = check({
      type: 'object',
      properties: { a: { type: 'int' }, b: { minLength: -1 }, 'c/d': { required: true } },
      required: 'a',
    })
    expect(problems.map(({ pointer, message }) => [pointer, message])).toEqual([
      ['/inputSchema/properties/a/type', "'int' is not a type of JSON Schema. Did you mean 'integer'?"],
      ['/inputSchema/properties/b/minLength', 'minLength must be an integer of at least 0'],
      ['/inputSchema/properties/c~1d/required', 'required must be an array of property names'],
      ['/inputSchema/required', 'required must be an array of property names'],
    ])
  })

  it('requires an object only on request', () => {
    expect(checkSchema({ type: 'string' }, '', { object: true }).map(({ pointer }) => pointer)).toEqual(['/type'])
    expect(checkSchema({ type: 'object' }, '', { object: true })).toEqual([])
    expect(checkSchema({}, '', { object: true })).toEqual([])
    expect(checkSchema({ title: 'Anything' }, '', { object: true })).toEqual([])
    expect(checkSchema({ city: { type: 'string' } }, '', { object: true }).map(({ pointer }) => pointer)).toContain(
      '/type',
    )
    expect(check({})).toEqual([])
    expect(check(true)).toEqual([])
  })

  it.each([['text'], [12], [null], [[]], [undefined], [() => 1], [Number.NaN]])('refuses %o', (schema) => {
    expect(check(schema)).toHaveLength(1)
  })

  it('supports two drafts, and names them where another is requested', () => {
    expect(check({ $schema: draft07 })).toEqual([])
    expect(check({ $schema: 'https://json-schema.org/draft/2020-12/schema' })).toEqual([])
    const [problem] = check({ $schema: 'http://json-schema.org/draft-04/schema#' })
    expect(problem).toMatchObject({ pointer: '/inputSchema/$schema', message: '$schema must be draft-07 or 2020-12' })
  })

  it('refuses by budget what would be too much to compile', () => {
    const many = { properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, {}])) }
    const cycle: Record<string, unknown> = {}
    cycle.not = cycle
    let shared: Record<string, unknown> = {}
    for (let level = 0; level < 40; level++) shared = { allOf: [shared, shared] }
    for (const [schema, words] of [
      [nested(65), 'deeper than 64'],
      [nested(200_000), 'deeper than 64'],
      [cycle, 'deeper than 64'],
      [shared, 'parts'],
      [many, 'more than 2000 subschemas'],
      [{ allOf: Array.from({ length: 1000 }, () => ({})) }, 'allOf has 1000 schemas'],
      [{ enum: Array.from({ length: 1001 }, (_, index) => index) }, 'enum has 1001 values'],
      [{ description: 'x'.repeat(300_000) }, 'bytes as JSON'],
    ] as const) {
      const found = check(schema)
      expect(found[0]?.message).toContain(words)
      expect(found).toHaveLength(1)
    }
    expect(check(nested(60))).toEqual([])
  })

  it('refuses refs that leave the document, and fetches nothing', async () => {
    let asked = 0
    const server = createServer((_, response) => {
      asked++
      response.end('{}')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    for (const $ref of [`http://127.0.0.1:${port}/a.json`, 'file:///etc/passwd', 'other.json', '/a', 'urn:x']) {
      expect(pointers({ properties: { a: { $ref } } })).toEqual(['/inputSchema/properties/a/$ref'])
      expect(() => compileSchema({ $ref })).toThrow('not valid')
    }
    await new Promise((done) => setTimeout(done, 20))
    server.close()
    expect(asked).toBe(0)
  })

  it('refuses refs that lead nowhere or never end', () => {
    const [problem] = check({ $defs: { point: {} }, items: { $ref: '#/$defs/pint' } })
    expect(problem?.pointer).toBe('/inputSchema/items/$ref')
    expect(problem?.message).toContain("Did you mean 'point'?")
    expect(pointers({ items: { $ref: '#nowhere' } })).toEqual(['/inputSchema/items/$ref'])
    expect(pointers({ items: { $ref: '#/%' } })).toEqual(['/inputSchema/items/$ref'])
    expect(pointers({ items: { $ref: '#/constructor' } })).toEqual(['/inputSchema/items/$ref'])
    expect(check({ $ref: '#' })[0]?.message).toContain('endlessly')
    expect(
      check({ $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } }),
    ).toHaveLength(1)
  })

  it('checks schemas that only a ref makes one', () => {
    const schema = { components: { a: { type: 'strin' } }, properties: { x: { $ref: '#/components/a' } } }
    expect(pointers(schema)).toEqual(['/inputSchema/components/a/type'])
    expect(pointers({ components: { a: { type: 'strin' } } })).toEqual([])
  })

  it('refuses patterns that RE2 cannot match', () => {
    expect(pointers({ pattern: '(?=a)b' })).toEqual(['/inputSchema/pattern'])
    expect(pointers({ pattern: '(a)\\1' })).toEqual(['/inputSchema/pattern'])
    expect(pointers({ patternProperties: { '[': {} } })).toEqual(['/inputSchema/patternProperties/['])
    expect(check({ pattern: '^[\\w.-]+/\\d{2}\\u0041$' })).toEqual([])
  })

  it('lets unknown keywords and formats be', () => {
    expect(check({ type: 'string', format: 'colour', 'x-unit': { type: 3 }, nullable: 'yes' })).toEqual([])
    expect(messages({ type: 'string', format: 'colour', nullable: true, $async: true, discriminator: 1 }, 'x')).toEqual(
      [],
    )
  })

  it('refuses a property called __proto__', () => {
    expect(check(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'))).toHaveLength(1)
  })
})

describe('drafts', () => {
  it('reads lists of items as each draft does', () => {
    const list = { items: [{ type: 'string' }, { type: 'number' }], additionalItems: false }
    expect(messages({ $schema: draft07, ...list }, ['a', 'b', 1])).toEqual([
      '[1] must be a number, not a string',
      'the input must have at most 2 entries',
    ])
    expect(check(list)[0]).toMatchObject({
      pointer: '/inputSchema/items',
      hint: expect.stringContaining('prefixItems'),
    })
    expect(messages({ prefixItems: [{ type: 'string' }] }, [1])).toEqual(['[0] must be a string, not 1'])
    expect(messages({ $schema: draft07, prefixItems: [{ type: 'string' }] }, [1])).toEqual([])
    expect(messages({ $schema: draft07, additionalItems: false }, [1])).toEqual([])
  })

  it('ignores siblings of a $ref in draft-07 only', () => {
    const schema = {
      definitions: { a: { type: 'string' } },
      properties: { x: { $ref: '#/definitions/a', minLength: 3 } },
    }
    expect(messages({ $schema: draft07, ...schema }, { x: 'a' })).toEqual([])
    expect(messages(schema, { x: 'a' })).toEqual(['x must have at least 3 characters'])
  })

  it('knows dependencies in draft-07 and their successors in 2020-12', () => {
    const old = { $schema: draft07, dependencies: { a: ['b'], c: { required: ['d'] } } }
    expect(messages(old, { a: 1, c: 1 })).toEqual(["b is required if 'a' is present", 'd is required'])
    expect(messages({ dependencies: { a: ['b'] } }, { a: 1 })).toEqual([])
    expect(messages({ dependentRequired: { a: ['b'] } }, { a: 1 })).toEqual(["b is required if 'a' is present"])
  })

  it('finds anchors: $id in draft-07, $anchor in 2020-12', () => {
    const part = { properties: { x: { $ref: '#name' } } }
    expect(
      messages({ $schema: draft07, ...part, definitions: { a: { $id: '#name', type: 'string' } } }, { x: 1 }),
    ).toHaveLength(1)
    expect(messages({ ...part, $defs: { a: { $anchor: 'name', type: 'string' } } }, { x: 1 })).toHaveLength(1)
    expect(pointers({ ...part, $defs: { a: { $id: '#name', type: 'string' } } })).toContain('/inputSchema/$defs/a/$id')
  })

  it('starts # anew inside a schema with an $id of its own', () => {
    const inner = { $id: 'https://example.com/inner', $defs: { a: { type: 'string' } }, items: { $ref: '#/$defs/a' } }
    const schema = { $id: 'https://example.com/outer', $defs: { a: { type: 'number' } }, properties: { inner } }
    expect(messages(schema, { inner: ['x'] })).toEqual([])
    expect(messages(schema, { inner: [1] })).toEqual(['inner[0] must be a string, not 1'])
  })

  it('honours unevaluatedProperties through refs in 2020-12', () => {
    const schema = { $defs: { a: { properties: { x: {} } } }, $ref: '#/$defs/a', unevaluatedProperties: false }
    expect(messages(schema, { x: 1 })).toEqual([])
    expect(messages(schema, { y: 1 })).toEqual(["unknown property 'y'"])
  })
})

describe('one meaning of a schema', () => {
  it('accepts null for a type that is nullable', () => {
    const schema = { properties: { x: { type: 'string', nullable: true } } }
    expect(messages(schema, { x: null })).toEqual([])
    expect(messages(schema, { x: 1 })).toHaveLength(1)
    expect(messages({ enum: [1], nullable: true }, null)).toHaveLength(1)
  })

  it('inserts the default of the target of a ref', () => {
    const schema = { $defs: { a: { $ref: '#/$defs/b' }, b: { default: 3 } }, properties: { x: { $ref: '#/$defs/a' } } }
    expect(compileSchema(schema).validate({}).value).toEqual({ x: 3 })
    const own = { ...schema, properties: { x: { $ref: '#/$defs/a', default: 4 } } }
    expect(compileSchema(own).validate({}).value).toEqual({ x: 4 })
    expect(compileSchema({ $schema: draft07, definitions: schema.$defs, ...own }).validate({}).value).toEqual({ x: 3 })
  })

  it('rejects dependencies that apply themselves endlessly', () => {
    expect(check({ $schema: draft07, dependencies: { a: { $ref: '#' } } })[0]?.message).toContain('endlessly')
  })

  it('applies both a $ref and a $dynamicRef', () => {
    const $defs = { a: { minimum: 2 }, b: { $dynamicAnchor: 'b', maximum: 4 } }
    const schema = { $ref: '#/$defs/a', $dynamicRef: '#b', allOf: [{ multipleOf: 3 }], $defs }
    for (const value of [1, 2, 5, 6]) expect(messages(schema, value)).not.toEqual([])
    expect(messages(schema, 3)).toEqual([])
  })
})

describe('compileSchema', () => {
  const schema = {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1 },
      limit: { type: 'integer', maximum: 100, default: 10 },
      sort: { enum: ['name', 'date'] },
      toString: { default: 'own' },
      options: { type: 'object', default: {}, properties: { deep: { default: [1] } } },
    },
    required: ['query'],
    additionalProperties: false,
  }

  it('reports all problems at once, in plain words', () => {
    const { problems } = compileSchema(schema).validate({ qurey: 1, limit: 1000, sort: 'nam' })
    expect(problems.map(({ pointer, message }) => [pointer, message])).toEqual([
      ['/query', 'query is required'],
      ['/qurey', "unknown property 'qurey'; did you mean 'query'?"],
      ['/limit', 'limit must be at most 100'],
      ['/sort', 'sort must be one of: name, date'],
    ])
  })

  it('fills defaults into a copy, each time anew', () => {
    const given = Object.freeze({ query: 'x' })
    const validator = compileSchema(schema)
    const first = validator.validate(given)
    expect(first).toEqual({
      value: { query: 'x', limit: 10, toString: 'own', options: { deep: [1] } },
      problems: [],
    })
    ;(first.value as { options: { deep: number[] } }).options.deep.push(2)
    expect(validator.validate(given).value).toMatchObject({ options: { deep: [1] } })
    expect(given).toEqual({ query: 'x' })
  })

  it('is not changed by changing the schema afterwards', () => {
    const mutable = { enum: ['a'] }
    const validator = compileSchema(mutable)
    mutable.enum.push('b')
    expect(validator.validate('b').problems).toHaveLength(1)
  })

  it('reports the alternatives of a choice once', () => {
    expect(messages({ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1)).toEqual([
      'the input must be a string, or null',
    ])
    const shapes = { oneOf: [{ required: ['a'] }, { required: ['b'] }] }
    expect(compileSchema(shapes).validate({}).problems).toEqual([
      {
        severity: 'error',
        pointer: '',
        message: 'the input matches none of the allowed schemas',
        hint: 'a is required; or: b is required',
      },
    ])
    expect(messages(shapes, { a: 1, b: 1 })[0]).toContain('exactly one')
  })

  it('validates what refers to itself', () => {
    const tree = { properties: { name: { type: 'string' }, children: { items: { $ref: '#' } } }, required: ['name'] }
    expect(messages(tree, { name: 'a', children: [{ name: 'b', children: [] }] })).toEqual([])
    expect(messages(tree, { name: 'a', children: [{ name: 'b', children: [{}] }] })).toEqual([
      'children[0].children[0].name is required',
    ])
  })

  it('matches patterns in linear time, anywhere in the text', () => {
    const validator = compileSchema({ pattern: '^(a+)+$', propertyNames: { pattern: '^(a|a)*$' } })
    expect(validator.validate(`${'a'.repeat(50_000)}!`).problems).toHaveLength(1)
    expect(validator.validate({ [`${'a'.repeat(5000)}!`]: 1 }).problems).toHaveLength(1)
    expect(messages({ pattern: 'b' }, 'abc')).toEqual([])
    expect(
      messages({ patternProperties: { '^a': { type: 'string' }, '^b': { type: 'number' } } }, { a: 1, b: 'x' }),
    ).toHaveLength(2)
  })

  it('ends when a schema would branch without end', () => {
    const node = { properties: { x: { $ref: '#' } } }
    const branching = { anyOf: [{ allOf: [node, { required: ['q'] }] }, { allOf: [node, { required: ['r'] }] }, node] }
    let value: unknown = {}
    for (let level = 0; level < 100; level++) value = { x: value }
    expect(messages(branching, value)).toEqual([
      'the input takes too long to validate against this schema (the schema at #)',
    ])
    const doubling: Record<string, unknown> = { d0: {} }
    for (let level = 1; level < 60; level++) {
      const $ref = `#/$defs/d${level - 1}`
      doubling[`d${level}`] = { allOf: [{ $ref }, { $ref }] }
    }
    expect(messages({ $defs: doubling, $ref: '#/$defs/d59' }, 1)).toHaveLength(1)
    expect(messages({ $defs: doubling, $ref: '#/$defs/d59' }, {})).toHaveLength(1)
    expect(messages({ properties: { l: { $ref: '#', default: {} }, r: { $ref: '#', default: {} } } }, {})).toHaveLength(
      1,
    )
  })

  it('finds equal entries of a long list quickly', () => {
    const entries = Array.from({ length: 50_000 }, (_, index) => ({ index }))
    expect(messages({ uniqueItems: true }, entries)).toEqual([])
    expect(messages({ uniqueItems: true }, [...entries, { index: 7 }])).toEqual(['the input has the same entry twice'])
    expect(
      messages({ uniqueItems: true }, [[], {}, '', 'list', ['list', 0], 0, '0', null, { a: 1 }, [['a', 1]]]),
    ).toEqual([])
    expect(
      messages({ uniqueItems: true }, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toHaveLength(1)
  })

  it('stays small when a large value is wrong everywhere', () => {
    const value = Array.from({ length: 300_000 }, () => 1)
    const branches = Array.from({ length: 50 }, (_, index) => ({ const: `c${index}` }))
    const { problems } = compileSchema({ items: { anyOf: branches } }).validate(value)
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.length).toBeLessThanOrEqual(100)
  })

  it('takes __proto__ as plain data', () => {
    const value = JSON.parse('{"__proto__":{"polluted":1},"constructor":1}')
    const result = compileSchema({ properties: { x: { default: 1 } } }).validate(value)
    expect(JSON.stringify(result.value)).toBe('{"__proto__":{"polluted":1},"constructor":1,"x":1}')
    expect(Object.getPrototypeOf(result.value)).toBe(Object.prototype)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    expect(messages({ required: ['toString'] }, {})).toEqual(['toString is required'])
    expect(messages({ additionalProperties: false }, value)).toHaveLength(2)
    const poisoned = JSON.parse('{"properties":{"x":{"default":{"__proto__":{"a":1}}}}}')
    expect(JSON.stringify(compileSchema(poisoned).validate({}).value)).toBe('{"x":{"__proto__":{"a":1}}}')
  })

  it('compares values that have properties called like methods', () => {
    expect(messages({ const: {} }, { valueOf: [] })).toEqual(['the input must be {}'])
    expect(messages({ enum: [{ toString: 1, a: [] }] }, { a: [], toString: 1 })).toEqual([])
    expect(messages({ uniqueItems: true }, [{ constructor: 1 }, { constructor: 1 }])).toHaveLength(1)
  })

  it('takes 0.3 for a multiple of 0.1, and nothing near one', () => {
    for (const value of [0, 0.3, 19.99, -1.1, 1e20]) expect(messages({ multipleOf: 0.01 }, value)).toEqual([])
    expect(messages({ multipleOf: 0.1 }, 0.35)).toEqual(['the input must be a multiple of 0.1'])
    expect(messages({ multipleOf: 1 }, 9e-323)).toHaveLength(1)
  })

  it('rejects values that are not JSON', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    for (const value of [undefined, Number.NaN, 1n, () => 1, new Map(), new Date(), cycle])
      expect(compileSchema({}).validate(value).problems).toHaveLength(1)
  })

  it('remembers a bounded number of validators by what schemas say', () => {
    const cache = new SchemaCache(50)
    const first = compileSchema({ minimum: -1 }, cache)
    expect(compileSchema({ minimum: -1 }, cache)).toBe(first)
    for (let index = 0; index < 10_000; index++) {
      compileSchema({ minimum: index }, cache)
      if (index % 40 === 0) expect(compileSchema({ minimum: -1 }, cache)).toBe(first)
    }
    expect(cache.size).toBe(50)
    for (let index = 0; index < 50; index++) compileSchema({ maximum: index }, cache)
    expect(compileSchema({ minimum: -1 }, cache)).not.toBe(first)
  })
})
