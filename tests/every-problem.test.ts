import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ToolDraft } from '../src/contract/registry.ts'
import { openRegistry } from './support/open-registry.ts'

let registry: Awaited<ReturnType<typeof openRegistry>>
beforeAll(async () => {
  registry = await openRegistry()
})
afterAll(() => registry.close())

interface Refusal {
  readonly code: string
  readonly detail: string
  readonly hint: string
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
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
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

describe('problems of a tool', () => {
  it.each(['/tools', '/validate'])('are reported at once, of its shape and its content: %s', async (path) => {
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
    expect(at('/inputSchema/properties/a/$ref')?.hint).toBe('existing keys: c')
    expect(at('/scriptContent')).toMatchObject({ line: 2, column: 12, hint: 'fix the line `return (`' })
  })

  it('are reported of a change too', async () => {
    const { name: _name, displayNmae: _typo, ...rest } = wrong
    const sound = { ...rest, name: 'to_change', inputSchema: { type: 'object' }, outputSchema: {}, executorConfig: {} }
    await send('POST', '/tools', { ...sound, scriptContent: 'def main(arguments):\n    return 1\n' })
    const refusal = await send('PATCH', '/tools/to_change', { displayName: 7, outputSchema: { type: 7 } })
    expect(places(refusal)).toEqual(['/displayName', '/outputSchema/type'])
  })

  it('do not include fields that depend on an invalid one', async () => {
    const shell = { executorConfig: { command: ['echo', '{{days}}'] }, scriptContent: undefined }
    const kind = await send('POST', '/tools', { ...wrong, ...shell, inputSchema: 7, executorType: 'shel' })
    expect(places(kind)).toEqual(['/displayNmae', '/executorType', '/inputSchema', '/name', '/outputSchema/type'])
    expect(kind.errors.find(({ pointer }) => pointer === '/executorType')?.hint).toBe("did you mean 'shell'?")
    const script = await send('POST', '/validate', { ...wrong, scriptContent: 7 })
    expect(places(script)).toContain('/scriptContent')
    expect(script.errors.filter(({ pointer }) => pointer === '/scriptContent')).toHaveLength(1)
  })
})

describe('problems of many tools', () => {
  const sound = {
    name: 'sound',
    displayName: 'Sound',
    description: 'Does one thing.',
    inputSchema: { type: 'object' },
    executorType: 'http',
    executorConfig: { method: 'GET', url: 'https://example.com/' },
  }
  const deep = { ...sound, name: 'deep', executorConfig: { method: 'GOT', url: 'ftp://a' } }
  const bundle = { tooldex: 1, tools: [sound, wrong, { ...sound, name: 'shell', executorType: 'shel' }, deep] }

  it('are reported at once for a bundle, of its shape and its content', async () => {
    const refusal = await send('POST', '/bundle', { bundle })
    expect(refusal).toMatchObject({ code: 'INPUT_INVALID', hint: 'Fix the listed problems and send it again.' })
    expect(places(refusal)).toEqual([
      '/bundle/tools/1/displayNmae',
      '/bundle/tools/1/executorConfig/netwrok',
      '/bundle/tools/1/inputSchema/properties/a/$ref',
      '/bundle/tools/1/inputSchema/type',
      '/bundle/tools/1/name',
      '/bundle/tools/1/outputSchema/type',
      '/bundle/tools/1/scriptContent',
      '/bundle/tools/2/executorType',
      '/bundle/tools/3/executorConfig/method',
      '/bundle/tools/3/executorConfig/url',
    ])
    expect(refusal.detail).toBe(`The bundle was refused: ${refusal.errors.length} problems.`)
    expect((await send('GET', '/tools/sound', undefined)).code).toBe('TOOL_NOT_FOUND')
  })

  it('are reported at once for the text of a bundle, with lines, columns and hints', async () => {
    const refusal = await send('POST', '/bundle', { text: JSON.stringify(bundle, null, 2), file: 'many.json' })
    expect(refusal.code).toBe('BUNDLE_INVALID')
    expect(refusal.errors).toHaveLength((await send('POST', '/bundle', { bundle })).errors.length)
    for (const error of refusal.errors) {
      expect(error).toMatchObject({ file: 'many.json', line: expect.any(Number), column: expect.any(Number) })
      expect(error).not.toHaveProperty('pointer')
    }
    const lines = refusal.errors.map(({ line = 0 }) => line)
    expect(lines).toEqual(lines.toSorted((a, b) => a - b))
    const said = (text: string) => refusal.errors.find(({ message }) => message.includes(text))
    expect(said('displayNmae')).toMatchObject({
      message: expect.stringContaining("'displayName'?"),
      hint: expect.stringContaining('allowed keys: '),
    })
    expect(said('tools[1].name')?.hint).toBe('write it like send_report')
    expect(said('executorType')?.hint).toBe("did you mean 'shell'?")
    expect(said('is not valid Python')?.message).toMatch(/^line 2, column 12 of the script: /)
  })

  it('are the same for a bundle as data or as text: duplicate names, cycles, contradictory policies', async () => {
    const args = { limit: { min: 9, max: 1 }, name: { pattern: '(' } }
    const together = {
      tooldex: 1,
      categories: [
        { name: 'a', parent: 'b' },
        { name: 'b', parent: 'a' },
      ],
      tools: [sound, { ...sound, category: 'c' }],
      policies: [{ name: 'odd', policy: { tools: { sound: { args } } } }],
    }
    const refusal = await send('POST', '/bundle', { bundle: together })
    expect(refusal).toMatchObject({ code: 'BUNDLE_INVALID', detail: 'The bundle was refused: 5 problems.' })
    expect(places(refusal)).toEqual([
      '/bundle/categories/0/parent',
      '/bundle/policies/0/policy/tools/sound/args/limit',
      '/bundle/policies/0/policy/tools/sound/args/name/pattern',
      '/bundle/tools/1/category',
      '/bundle/tools/1/name',
    ])
    const twice = refusal.errors.find(({ pointer }) => pointer === '/bundle/tools/1/name')
    expect(twice?.message).toBe("the tool 'sound' is already at /tools/0/name")
    const text = await send('POST', '/bundle', { text: JSON.stringify(together), file: 'many.json' })
    expect([text.code, text.errors.length]).toEqual(['BUNDLE_INVALID', 5])
    expect((await send('GET', '/tools/sound', undefined)).code).toBe('TOOL_NOT_FOUND')
  })

  it('that are warnings are returned by an import for the tools that it creates or changes', async () => {
    const plain = { ...sound, name: 'plain', executorConfig: { method: 'GET', url: 'http://example.com/' } }
    const load = async (given: object) =>
      ((await send('POST', '/bundle', given)) as unknown as { warnings: readonly string[] }).warnings
    const warning = 'plain: /executorConfig/url: url is not encrypted (use https)'
    expect(await load({ bundle: { tooldex: 1, tools: [plain] }, dryRun: true })).toEqual([warning])
    expect(await load({ text: JSON.stringify({ tooldex: 1, tools: [plain] }), file: 'one.json' })).toEqual([warning])
    expect(await load({ bundle: { tooldex: 1, tools: [plain] } })).toEqual([])
    const changed = { ...plain, description: 'Does two things.' }
    expect(await load({ bundle: { tooldex: 1, tools: [changed] } })).toEqual([warning])
    await send('DELETE', '/tools/plain', undefined)
  })

  it('include keys with the names of object members', async () => {
    const tools = JSON.stringify([{ ...sound, executorConfig: { url: 'ftp://a' }, constructor: 1 }])
    const text = `{"tooldex": 1, "tools": ${tools.replace('"url"', '"__proto__": 1, "method": "GET", "url"')}}`
    const refusal = await send('POST', '/bundle', { text, file: 'odd.json' })
    expect(refusal.code).toBe('BUNDLE_INVALID')
    const messages = refusal.errors.map(({ message }) => message).join('\n')
    expect(messages).toContain("the key '__proto__' is not allowed")
    expect(messages).toContain("unknown key 'constructor'")
    expect(messages).toContain('url must start with')
  })

  it('name the fields of a file with one tool as the file does', async () => {
    const { description: _gone, ...rest } = sound
    const { errors } = await send('POST', '/bundle', { text: JSON.stringify(rest), file: 'one.json' })
    expect(errors.map(({ message }) => message)).toEqual(['description is required'])
  })

  it('name the tools where only their content is invalid', async () => {
    const tools = [sound, deep, { ...deep, name: 'deeper' }]
    const refusal = await send('POST', '/bundle', { bundle: { tooldex: 1, tools } })
    expect(refusal).toMatchObject({
      code: 'TOOL_INVALID',
      detail: 'The bundle was refused: 4 problems in deep, deeper.',
    })
    const one = { ...deep, executorConfig: { method: 'GET', url: 'ftp://a' } }
    const text = JSON.stringify({ tooldex: 1, tools: [one] })
    const single = await send('POST', '/bundle', { text, file: 'one.json' })
    expect(single.detail).toMatch(/^one\.json was refused: deep: .*url must start with https/)
    expect(single.errors).toMatchObject([{ file: 'one.json', line: 1 }])
  })

  it('are listed up to a limit, and counted beyond it', async () => {
    const tools = Array.from({ length: 150 }, (_, at) => ({ ...deep, name: `deep_${at}` }))
    const inside = await send('POST', '/bundle', { bundle: { tooldex: 1, tools } })
    expect(inside.errors).toHaveLength(200)
    expect(inside.detail).toMatch(/: 300 problems in deep_0, .* and 145 more, of which the first 200 are listed\.$/)
    const shapeless = tools.map(({ description: _text, ...rest }) => rest)
    for (const body of [{ bundle: { tooldex: 1, tools: shapeless } }, { text: JSON.stringify(shapeless) }]) {
      const both = await send('POST', '/bundle', body)
      expect(both.errors).toHaveLength(200)
      expect(both.detail).toMatch(/: 450 problems, of which the first 200 are listed\.$/)
    }
  })
})

describe('problems of a proposal or a rollback', () => {
  it('are reported at once', async () => {
    const script = 'def main(arguments):\n    return 1\n'
    const tool = { displayName: 'P', description: 'Does one thing.', inputSchema: { type: 'object' } }
    await send('POST', '/tools', { ...tool, name: 'proposed', scriptContent: script })
    const change = { displayName: 7, scriptContent: 'def main(:\n', outputSchema: { type: 7 } }
    const refusal = await send('POST', '/tools/proposed/proposals', { change, resaon: 'typo' })
    expect(refusal).toMatchObject({ code: 'INPUT_INVALID', detail: 'The proposal was refused: 4 problems.' })
    expect(places(refusal)).toEqual([
      '/change/displayName',
      '/change/outputSchema/type',
      '/change/scriptContent',
      '/resaon',
    ])
    const { displayName: _wrong, ...inside } = change
    const shaped = await send('POST', '/tools/proposed/proposals', { change: inside })
    expect([shaped.code, places(shaped)]).toEqual([
      'TOOL_INVALID',
      ['/change/outputSchema/type', '/change/scriptContent'],
    ])
  })

  it('are reported at once of a stored version that is invalid today', async () => {
    const { stores } = registry.context.registry
    const { displayNmae: _typo, ...fields } = wrong
    const content = ToolDraft.parse({ ...fields, name: 'of_old' })
    await stores.tools.create(registry.context.caller, content)
    const refusal = await send('POST', '/tools/of_old/rollback', { version: 1, changelog: 7 })
    expect(refusal.code).toBe('INPUT_INVALID')
    expect(places(refusal)).toEqual(expect.arrayContaining(['/changelog', '/inputSchema/type', '/scriptContent']))
  })
})
