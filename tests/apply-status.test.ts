import { expect, it } from 'vitest'
import { onServer } from './support/each-engine.ts'
import { draft, expectProblem, register } from './support/rest.ts'
import { runInline } from './support/run-here.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

const text = (name: string, status: string) => `name: ${name}
displayName: Tool ${name}
status: ${status}
description: Does one thing.
executorType: http
inputSchema: { type: object }
executorConfig: { method: GET, url: "https://example.com/" }
`

onServer('a status in files', (server) => {
  const cli = (...words: string[]) =>
    runInline([...words, '--server', server().url], {
      env: { TOOLDEX_API_KEY: server().key, TOOLDEX_HOME: server().home },
    })
  const activate = async (name: string) => {
    await register(server(), name)
    await server().request('POST', `/tools/${name}/activate`)
  }

  it('is rejected by a dry run and by the real one, with every tool, its position and the possible steps', async () => {
    await activate('one_tool')
    await activate('two_tool')
    const folder = tempFolder()
    tempFile('one.yaml', text('one_tool', 'DRAFT'), folder)
    tempFile('two.yaml', text('two_tool', 'DRAFT'), folder)
    const [dry, real] = [await cli('apply', folder, '--dry-run'), await cli('apply', folder)]
    expect([dry.code, dry.stderr]).toEqual([real.code, real.stderr])
    expect(dry.code).toBe(7)
    for (const name of ['one', 'two'])
      expect(dry.stderr).toContain(
        `${folder}/${name}.yaml:3:9: ${name}_tool is ACTIVE and cannot become DRAFT; the steps from ACTIVE lead to DISABLED (deactivate) and DEPRECATED (deprecate)`,
      )
  })

  it('has its pointer in data, and its line in a text', async () => {
    await activate('three_tool')
    const bundle = { tooldex: 1, tools: [draft('new_tool'), draft('three_tool', { status: 'DRAFT' })] }
    const given = await server().request('POST', '/bundle', { body: { bundle, dryRun: true } })
    expectProblem(given, 409, 'ILLEGAL_STEP')
    expect(given.body.errors).toEqual([expect.objectContaining({ pointer: '/bundle/tools/1/status' })])
    const body = { text: text('three_tool', 'DRAFT'), file: 'three.yaml', dryRun: true }
    const read = await server().request('POST', '/bundle', { body })
    expectProblem(read, 409, 'ILLEGAL_STEP')
    expect(read.body.errors).toEqual([expect.objectContaining({ file: 'three.yaml', line: 3, column: 9 })])
  })

  it('is reported together with all other problems', async () => {
    await activate('four_tool')
    const wrong = draft('five_tool', { inputSchema: { type: 'nothing' } })
    const bundle = { tooldex: 1, tools: [draft('four_tool', { status: 'DRAFT' }), wrong] }
    const { body } = await server().request('POST', '/bundle', { body: { bundle, dryRun: true } })
    const pointers = body.errors.map(({ pointer }: { pointer: string }) => pointer)
    expect(pointers).toEqual(expect.arrayContaining(['/bundle/tools/0/status', '/bundle/tools/1/inputSchema/type']))
  })

  it('is shown with the previous status', async () => {
    await activate('six_tool')
    const folder = tempFolder()
    tempFile('six.yaml', text('six_tool', 'DISABLED').replace('one thing', 'two things'), folder)
    for (const words of [['--dry-run'], []]) {
      const { stdout } = await cli('apply', folder, ...words)
      expect(stdout).toContain('~ tool six_tool: description, status ACTIVE -> DISABLED\n')
    }
    expect((await server().request('GET', '/tools/six_tool')).body.status).toBe('DISABLED')
  })

  it('is rejected by a dry run where a policy requires a replay first', async () => {
    await activate('seven_tool')
    const body = { default: 'enabled', tools: { seven_tool: { requireReplay: 1 } } }
    expect((await server().request('PUT', '/policies/careful', { body })).status).toBe(200)
    const bundle = { tooldex: 1, tools: [draft('seven_tool', { outputSchema: { type: 'object' } })] }
    const answers = []
    for (const dryRun of [true, false])
      answers.push(await server().request('POST', '/bundle', { body: { bundle, dryRun } }))
    for (const answer of answers) {
      expectProblem(answer, 409, 'ILLEGAL_STEP')
      expect(answer.body.errors[0]).toMatchObject({ pointer: '/bundle/tools/0/name' })
    }
  })
})
