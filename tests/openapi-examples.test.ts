import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { errorTable } from '../src/base/errors.ts'
import { openApiDocument } from '../src/surfaces/rest/openapi.ts'
import { hasBody, namesIn, type RoutedOperation, routes } from '../src/surfaces/rest/routes.ts'
import { apiExamples, apiOperations, faultsAt } from './support/api-document.ts'

type Content = Record<string, { schema: unknown; example?: unknown }>

const { bodies, answers, problem } = apiExamples
const document = await openApiDocument()
const answerOf = (name: string) => Object.values(answers[name] ?? {})[0]

const responsesOf = ({ http }: RoutedOperation) => {
  const { paths } = document as {
    paths: Record<string, Record<string, { responses: Record<string, { content?: Content }> }>>
  }
  return Object.entries(paths[http.path]?.[http.method]?.responses ?? {}).filter(([status]) => status !== 'default')
}

const escapePart = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
const pointerOf = ({ http }: RoutedOperation, status: string) =>
  `#/paths/${escapePart(http.path)}/${http.method}/responses/${status}/content/application~1json/schema`

const json = routes.filter(({ http }) => http.media === undefined)

describe('the examples of answers', () => {
  it.each(json)('of $name are there, and are what its schema knows, no less and no more', (operation) => {
    const responses = responsesOf(operation)
    expect(responses.length).toBeGreaterThan(0)
    for (const [status, { content }] of responses) {
      const example = content?.['application/json']?.example
      expect(example).toBeDefined()
      expect(JSON.parse(JSON.stringify(example))).toEqual(example)
      expect(faultsAt(pointerOf(operation, status), example)).toBe('')
      // A key that the schema does not know would be left out here.
      expect(z.parse(operation.output, example)).toEqual(example)
    }
  })

  it('have the forms of times and ids', () => {
    const texts = JSON.stringify(answers).matchAll(/"(\w*(?:At|at|Id|id))":"([^"]+)"/g)
    for (const [, name = '', value = ''] of texts) {
      if (/(A|^a)t$/.test(name)) expect(z.iso.datetime().safeParse(value).success, `${name} ${value}`).toBe(true)
      else if (/-.*-/.test(value)) expect(z.uuid().safeParse(value).success, `${name} ${value}`).toBe(true)
    }
  })

  it('are of operations that there are', () => {
    const names = routes.map(({ name }) => name)
    expect(Object.keys({ ...answers, ...bodies }).filter((name) => !names.includes(name))).toEqual([])
  })
})

describe('the examples of bodies', () => {
  it.each(routes.filter((each) => bodies[each.name] !== undefined))('of $name are taken', (operation) => {
    expect(hasBody(operation)).toBe(true)
    const inPath = Object.fromEntries(namesIn(operation.http.path).map((name) => [name, 'weather_now']))
    const example = bodies[operation.name]
    const taken = operation.input.safeParse({ ...inPath, ...(example as object) })
    const faults = taken.success ? [] : taken.error.issues.filter(({ path }) => !(String(path[0]) in inPath))
    expect(faults).toEqual([])
  })

  it('are about the same things as the answers', () => {
    expect(answerOf('registry.create')).toMatchObject(withoutChangelog('registry.create'))
    expect(answerOf('registry.change')).toMatchObject(withoutChangelog('registry.change'))
    for (const name of ['categories.create', 'categories.change', 'keys.create', 'proposals.create'])
      expect(answerOf(name), name).toMatchObject(bodies[name] as object)
    expect(answerOf('policies.put')).toMatchObject({ policy: bodies['policies.put'] })
    expect(answerOf('tools.execute')).toMatchObject({ inputData: { city: 'Oslo' }, status: 'SUCCESS' })
  })
})

const withoutChangelog = (name: string): object => {
  const { changelog: _, ...rest } = bodies[name] as Record<string, unknown>
  return rest
}

describe('the example of a refusal', () => {
  it('is a problem as they are answered, with two errors', () => {
    expect(faultsAt('#/components/schemas/Problem', problem)).toBe('')
    expect(problem.status).toBe(errorTable.INPUT_INVALID.http)
    expect(problem.errors.filter(({ severity }) => severity === 'error')).toHaveLength(2)
    const { responses } = document.components as { responses: { Problem: { content: Content } } }
    expect(responses.Problem.content['application/problem+json']?.example).toEqual(problem)
  })

  it('is that of every operation', () => {
    expect(apiOperations.length).toBe(routes.length + 1)
  })
})
