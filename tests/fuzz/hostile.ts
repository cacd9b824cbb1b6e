import type { Random } from './random.ts'

/** Patterns whose cost is in their expansion, in the text, or in both. */
export const patterns = [
  '(?:a|aa|aaa|aaaa){1,1000}$',
  '^(a+)+$',
  '(?:(?:a{0,30}){0,30})b',
  '[\\p{L}\\p{N}]{1,900}x',
  '(?i)[a-zà-ÿ]{500}[0-9]{500}$',
  '(x+x+)+y|(.*)*z',
  '^[a-z0-9-]+$',
  '(a|b|c|d|e|f|g){1,1000}(a|b|c|d|e|f|g){1,1000}$',
  '.{1,1000}.{1,1000}.{1,1000}$',
  '(((((a{1,10}){1,10}){1,10})))',
  '(?=a)b',
  '[',
  '\\pN*$',
] as const

/** Paths that visit much of what they are given. */
export const paths = [
  '$..[?@..c]',
  '$..[?@..[?@..c]]',
  '$..*..*',
  '$..*..*..*',
  '$[?search(@.text, "(?:a|aa|aaa){1,500}$")]',
  '$[?match(@, "(a|aa)+$")]',
  '$.items[*].name',
  '$..',
  "$['a',0,1:2]",
  `$${'..a'.repeat(50)}`,
  `$${'[*]'.repeat(200)}`,
] as const

const wrap = (depth: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

/** Texts and values that are long, deep, wide or odd. */
export function hostileValue(random: Random): unknown {
  return random.pick([
    () => 'a'.repeat(30_000),
    () => `${'a'.repeat(random.pick([10, 6000, 300_000]))}b`,
    () => 'x y '.repeat(random.pick([100, 5000, 200_000])),
    () => 'é\u0000\ud800\u202e'.repeat(random.pick([1, 1000])),
    () => '"\\\n'.repeat(random.pick([10, 100_000])),
    () => Array.from({ length: random.pick([10, 1000, 30_000]) }, (_, index) => index),
    () => Array.from({ length: random.pick([10, 10_000]) }, (_, index) => ({ [`k${index}`]: 'a', c: [index] })),
    () => Object.fromEntries(Array.from({ length: random.pick([10, 20_000]) }, (_, index) => [`key${index}`, index])),
    () => wrap(random.pick([5, 60, 98, 300])),
    () => Number.MAX_SAFE_INTEGER * 3,
    () => -1e308,
    () => 0.1,
    () => null,
    () => '',
    () => [],
    () => ({}),
    () => '../../etc/passwd',
    () => '00000000-0000-4000-8000-000000000000',
    () => JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1, "toString": "x"}') as unknown,
    () => "'; drop table tools; --",
    () => random.pick(patterns),
    () => random.pick(paths),
  ])()
}

/** Such a value as a text. */
export function hostileText(random: Random): string {
  const value = hostileValue(random)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A choice over a choice over a choice: each level doubles what a validator may visit. */
function exponential(levels: number): Record<string, unknown> {
  const $defs: Record<string, unknown> = { d0: { type: 'integer' } }
  for (let level = 1; level <= levels; level++) {
    const below = { $ref: `#/$defs/d${level - 1}` }
    $defs[`d${level}`] = { anyOf: [below, below, { allOf: [below, below] }] }
  }
  return { type: 'object', properties: { text: { $ref: `#/$defs/d${levels}` } }, $defs }
}

/** A choice of choices with several types each, of as many subschemas as a tool may have. */
function nestedChoice(levels: number, width: number): Record<string, unknown> {
  if (levels === 0) return { type: ['string', 'null', 'integer'], minLength: 1, minimum: 1 }
  const anyOf = Array.from({ length: width }, () => nestedChoice(levels - 1, width))
  return { anyOf, description: 'A choice.', minimum: 1 }
}

/** Schemas that are expensive to check, compile, compare, convert or hold values against. */
export function hostileSchema(random: Random): Record<string, unknown> {
  return random.pick([
    () => ({ type: 'object', properties: { text: { type: 'string', pattern: random.pick(patterns) } } }),
    () => exponential(random.pick([3, 12, 25])),
    () => ({
      type: 'object',
      patternProperties: Object.fromEntries(
        Array.from({ length: random.pick([2, 50]) }, (_, index) => [`(?:a|aa|aaa){1,300}${index}$`, {}]),
      ),
    }),
    () => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: random.pick([20, 900]) }, (_, index) => [
          `p${index}`,
          { type: ['string', 'null'], enum: ['a', 'b', index], description: 'word '.repeat(10), default: 'a' },
        ]),
      ),
    }),
    () => ({
      type: 'object',
      properties: {
        text: { oneOf: Array.from({ length: 90 }, (_, index) => ({ type: 'object', required: [`r${index}`] })) },
      },
    }),
    () => ({
      type: 'object',
      properties: { text: { type: 'string', enum: Array.from({ length: 990 }, (_, i) => `v${i}`) } },
    }),
    () => ({
      type: 'object',
      properties: { list: { type: 'array', uniqueItems: true, items: { $ref: '#/$defs/node' } } },
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, a: { default: {} } } } },
    }),
    () => ({
      type: 'object',
      unevaluatedProperties: false,
      allOf: Array.from({ length: 90 }, (_, index) => ({
        if: { required: [`a${index}`] },
        ['then' as string]: { properties: { [`a${index}`]: {} } },
      })),
    }),
    () => ({ type: 'object', properties: { text: wrap(random.pick([20, 63])) } }),
    () => ({ type: 'object', properties: { text: random.pick([nestedChoice(9, 2), nestedChoice(5, 4)]) } }),
    () => ({ type: 'object', properties: { text: { $ref: 'https://example.com/schema' } } }),
  ])()
}

/** Arguments for such schemas. */
export function hostileArguments(random: Random): Record<string, unknown> {
  const value = hostileValue(random)
  return random.pick([
    { text: value },
    { text: 'a' },
    { list: value },
    { word: 'x', text: 'aaaa' },
    { [hostileText(random).slice(0, 50_000)]: value },
  ])
}
