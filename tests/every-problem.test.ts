import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRegistry } from './support/open-worlds.ts'

let registry: Awaited<ReturnType<typeof openRegistry>>
beforeAll(async () => {
  registry = await openRegistry()
})
afterAll(() => registry.close())

interface Refusal {
  readonly code: string
  readonly detail: string
  readonly errors: readonly { pointer: string; message: string; hint?: string; line?: number; column?: number }[]
}

async function send(method: string, path: string, body: unknown): Promise<Refusal> {
  const headers = {
    authorization: 'Bearer tdx_a_key_for_tests_only_0123456789',
    'content-type': 'application/json',
  }
  const answer = await registry.app.request(`http://localhost/api/v1${path}`, {
    method,
    headers,
    body: JSON.stringify(body),
  })
  return (await answer.json()) as Refusal
}

const wrong = {
  name: 'Bad Name',
  displayNmae: 'Typo',
  displayName: 'Fine',
  description: 'Does one thing.',
  inputSchema: { type: 'strin', properties: { a: { $ref: '#/$defs/b' } }, $defs: { c: {} } },
  outputSchema: { type: 7 },
  executorConfig: { netwrok: true },
  scriptContent: 'def main(arguments):\n    return (\n',
}
const places = ({ errors }: Refusal) => [...new Set(errors.map(({ pointer }) => pointer))].sort()

describe('what is wrong with a tool', () => {
  it.each(['/tools', '/validate'])('is said at once, its shape and what is inside: %s', async (path) => {
    const refusal = await send('POST', path, wrong)
    expect(refusal.code).toBe('INPUT_INVALID')
    expect(places(refusal)).toEqual([
      '/displayNmae',
      '/executorConfig/netwrok',
      '/inputSchema/properties/a/$ref',
      '/inputSchema/type',
      '/name',
      '/outputSchema/type',
      '/scriptContent',
    ])
    const at = (pointer: string) => refusal.errors.find((each) => each.pointer === pointer)
    expect(at('/name')?.hint).toContain('send_report')
    expect(at('/displayNmae')?.message).toContain("Did you mean 'displayName'?")
    expect(at('/inputSchema/properties/a/$ref')?.hint).toBe('there are: c')
    expect(at('/scriptContent')).toMatchObject({ line: 2, column: 12, hint: 'mend the line `return (`' })
  })

  it('is said of a change too', async () => {
    const { name: _name, displayNmae: _typo, ...rest } = wrong
    const sound = { ...rest, name: 'to_change', inputSchema: { type: 'object' }, outputSchema: {}, executorConfig: {} }
    await send('POST', '/tools', { ...sound, scriptContent: 'def main(arguments):\n    return 1\n' })
    const refusal = await send('PATCH', '/tools/to_change', { displayName: 7, outputSchema: { type: 7 } })
    expect(places(refusal)).toEqual(['/displayName', '/outputSchema/type'])
  })

  it('is not made up of fields that are judged by a wrong one', async () => {
    const shell = { executorConfig: { command: ['echo', '{{days}}'] }, scriptContent: undefined }
    const kind = await send('POST', '/tools', { ...wrong, ...shell, inputSchema: 7, executorType: 'shel' })
    expect(places(kind)).toEqual(['/displayNmae', '/executorType', '/inputSchema', '/name', '/outputSchema/type'])
    expect(kind.errors.find(({ pointer }) => pointer === '/executorType')?.hint).toBe("did you mean 'shell'?")
    const script = await send('POST', '/validate', { ...wrong, scriptContent: 7 })
    expect(places(script)).toContain('/scriptContent')
    expect(script.errors.filter(({ pointer }) => pointer === '/scriptContent')).toHaveLength(1)
  })
})
