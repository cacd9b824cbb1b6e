import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isObject, type JsonObject, sameJson } from '../src/base/json-values.ts'
import type { LlmFormat } from '../src/contract/llm.ts'
import { compileTool } from '../src/definitions/index.ts'
import { checkSchema, compileSchema, type SchemaValidator } from '../src/json-schema/index.ts'
import { readSchemaParameters } from '../src/json-schema/read-parameters.ts'
import { valueAtPointer } from '../src/json-schema/schema-document.ts'
import { lintSchema } from '../src/operations/lint/lint-schemas.ts'
import { lintTexts } from '../src/operations/lint/lint-texts.ts'
import { diffSchemas } from '../src/versions/diff-schemas.ts'
import { inlined, Meanings, Styles, writeSchema } from './support/write-schema.ts'

const numRuns = process.env.TOOLDEX_LONG === '1' ? 3000 : 150

/** A schema in its place and in any other way, and values. */
const pairs = fc.tuple(Meanings, Styles).map(([meaning, style]) => ({
  plain: writeSchema(meaning, inlined),
  other: writeSchema(meaning, style),
}))
const Values = fc.dictionary(
  fc.constantFrom('a', 'b', 'c/d', 'e~f', 'g h%'),
  fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 1 }))),
  { maxKeys: 3, noNullPrototype: true },
)

const sorted = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).toSorted()

describe('a schema that is written in another way', () => {
  const check = (compare: (plain: JsonObject, other: JsonObject) => void) =>
    fc.assert(
      fc.property(pairs, ({ plain, other }) => compare(plain, other)),
      { numRuns },
    )

  it('is valid, accepts the same values and has the same problems and defaults', () => {
    const property = fc.property(
      pairs,
      fc.array(Values, { minLength: 3, maxLength: 3 }),
      ({ plain, other }, values) => {
        expect([checkSchema(plain, ''), checkSchema(other, '')]).toEqual([[], []])
        const [one, two] = [compileSchema(plain), compileSchema(other)]
        for (const value of values) {
          const [was, is] = [one.validate(value), two.validate(value)]
          expect(sorted(is.problems)).toEqual(sorted(was.problems))
          expect(is.value).toEqual(was.value)
        }
      },
    )
    fc.assert(property, { numRuns: numRuns / 3 })
  })

  it('is the same version', () => {
    check((plain, other) => {
      for (const side of ['input', 'output'] as const) {
        expect(diffSchemas(plain, other, side)).toEqual([])
        expect(diffSchemas(other, plain, side)).toEqual([])
      }
    })
  })

  it.each(['openai', 'anthropic', 'gemini'] as const)('has the same definition for %s', (format) => {
    check((plain, other) => {
      const [was, is] = [define(plain, format), define(other, format)]
      expect(is.losses).toEqual(was.losses)
      expect([isSameUnfolded(was.schema, is.schema), was.schema, is.schema]).toEqual([true, was.schema, is.schema])
    })
  })

  it('has a definition for MCP that accepts the same values', () => {
    const property = fc.property(
      pairs,
      fc.array(Values, { minLength: 3, maxLength: 3 }),
      ({ plain, other }, values) => {
        const [was, is] = [define(plain, 'mcp'), define(other, 'mcp')]
        expect(is.losses).toEqual(was.losses)
        const [one, two] = [compileSchema(was.schema), compileSchema(is.schema)]
        for (const value of values) expect(accepts(two, value)).toBe(accepts(one, value))
      },
    )
    fc.assert(property, { numRuns: numRuns / 3 })
  })

  it('has the same lint findings', () => {
    const lint = (inputSchema: JsonObject) => {
      const tool = { toolName: 'a', description: 'Do it.', inputSchema } as Parameters<typeof lintSchema>[0]
      return sorted([...lintSchema(tool), ...lintTexts(tool)])
    }
    check((plain, other) => {
      expect(lint(other)).toEqual(lint(plain))
    })
  })

  it('has the same parameters', () => {
    const read = (schema: JsonObject) => {
      const { names, isOpen, required, defaults, types } = readSchemaParameters(schema)
      const values = [...defaults].map(([name, { value }]) => [name, value])
      return [sorted([...names]), isOpen, sorted([...required]), sorted(values), sorted([...types])]
    }
    check((plain, other) => {
      expect(read(other)).toEqual(read(plain))
      for (const { value, pointer } of readSchemaParameters(other).defaults.values())
        expect(valueAtPointer(other, pointer)).toEqual(value)
    })
  })
})

const accepts = (validator: SchemaValidator, value: unknown) => validator.validate(value).problems.length === 0

function define(inputSchema: JsonObject, format: LlmFormat) {
  const { definition, losses } = compileTool({ id: '1', name: 'a', description: 'Do it.', inputSchema }, format)
  const {
    parameters,
    input_schema,
    inputSchema: own,
    function: inner,
  } = definition as unknown as Record<string, JsonObject>
  return {
    schema: inner?.parameters ?? parameters ?? input_schema ?? own,
    losses: [...new Set(losses.map(({ lost, why }) => `${lost}: ${why}`))].toSorted(),
  }
}

/** Whether two schemas are the same when their references are replaced by the targets, endlessly. */
function isSameUnfolded(one: unknown, other: unknown): boolean {
  const seen = new Map<unknown, Set<unknown>>()
  const open = (part: unknown, root: unknown): unknown => {
    if (!isObject(part) || typeof part.$ref !== 'string') return part
    const { $ref, ...beside } = part
    const target = open(valueAtPointer(root, decodeURIComponent($ref.slice(1))), root)
    return Object.keys(beside).length === 0 ? target : { ...(target as object), ...beside }
  }
  const isSame = (left: unknown, right: unknown): boolean => {
    const [a, b] = [open(left, one), open(right, other)]
    if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => isSame(item, b[at]))
    if (!isObject(a) || !isObject(b)) return sameJson(a, b)
    if (seen.get(a)?.has(b)) return true
    seen.set(a, (seen.get(a) ?? new Set()).add(b))
    const [keys, others] = [keysOf(a), keysOf(b)]
    return keys.length === others.length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
  }
  return isSame(one, other)
}

const keysOf = (part: JsonObject) => Object.keys(part).filter((key) => key !== '$defs' && key !== '$schema')
