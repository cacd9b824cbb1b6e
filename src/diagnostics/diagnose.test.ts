import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { diagnose, independentOfInvalid } from './diagnose.ts'

const schema = z.strictObject({
  name: z.string(),
  kind: z.enum(['file', 'url']),
  target: z.string(),
  tags: z.array(z.string()),
})
const sound = { name: 'a', kind: 'url', target: 'b', tags: [] }
const check = (value: z.output<typeof schema>) =>
  (['name', 'target', 'tags'] as const).map((field) => ({ path: [field], message: `${field}: ${value[field]}` }))
const places = (input: unknown, dependents?: Parameters<typeof independentOfInvalid>[1]) =>
  diagnose(input, { schema, dependents }, check).findings.map(({ path }) => path.join('.'))

describe('a diagnosis', () => {
  it('has the findings of the check for a valid shape', () => {
    expect(places(sound)).toEqual(['name', 'target', 'tags'])
  })

  it('has the problems of the shape, and the findings in all other parts', () => {
    expect(places({ ...sound, name: 7, tga: [], tags: ['a', 8] })).toEqual(['name', 'tags.1', 'tga', 'target', 'tags'])
  })

  it('lists a thousand unknown keys of an object and counts the others', () => {
    const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key${at}`, 1]))
    const { findings } = diagnose({ ...sound, ...keys }, { schema })
    expect(findings).toHaveLength(1001)
    expect(findings[0]?.message).toContain("unknown key 'key0'")
    expect(findings.at(-1)).toMatchObject({ path: [], message: '19000 more unknown keys' })
  })

  it('leaves out findings in parts that depend on an invalid one', () => {
    const dependents = (path: readonly string[]) => (path.at(-1) === 'kind' ? [['target']] : [])
    expect(places({ ...sound, kind: 'urk' }, dependents)).toEqual(['kind', 'name', 'tags'])
  })

  it('has the problems of the shape only where no part is usable', () => {
    expect(diagnose(7, { schema }, check)).toMatchObject({ value: undefined, wrong: [''] })
  })
})

describe('a problem', () => {
  it('depends on the invalid parts that contain it, not on those with a similar name', () => {
    const isIndependent = independentOfInvalid(['/tools/1', '/name'])
    expect(['/tools/1/name', '/tools/1', '/name'].some(isIndependent)).toBe(false)
    expect(['/tools/10', '/tools', '/names', ''].every(isIndependent)).toBe(true)
  })
})
