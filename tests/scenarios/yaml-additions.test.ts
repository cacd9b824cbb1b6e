import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ToolIndex } from '../../src/index.ts'
import { connect } from '../support/connect.ts'
import { runInline } from '../support/run-here.ts'
import { tempFile, tempFolder, tempScript } from '../support/temp-folder.ts'
import { indexOf, load, names } from './index-fixtures.ts'
import { openTools, setEnv } from './open-tools.ts'

/** A config of one tool, with these lines at the top, in the tool, and in its arguments. */
const config = (parts: { top?: string; tool?: string; args?: readonly string[]; command?: string }) => `
name: one
command: ${parts.command ?? 'prog'}
${parts.top ?? ''}
tools:
  - name: t
    description: d
    ${parts.tool ?? ''}
    args: [${(parts.args ?? []).join(', ')}]
`

describe('what Tooldex adds to CLImax\u2019s YAML', () => {
  it('a tool\u2019s category replaces the config\u2019s, its tags are added to it', () => {
    const index = indexOf(`${config({ top: 'category: c\ntags: [a, b]', tool: 'category: own\n    tags: [b, x]' })}
  - {name: u, description: d}
`)
    expect(index.search()).toMatchObject([
      { toolName: 't', category: 'own', tags: ['a', 'b', 'x'] },
      { toolName: 'u', category: 'c', tags: ['a', 'b'] },
    ])
    expect(names(index.search({ category: 'OWN' }))).toEqual(['t'])
    expect(names(index.search({ category: 'c' }))).toEqual(['u'])
    expect(index.summary()).toMatchObject([{ category: 'c', tags: ['a', 'b'] }])
  })

  it('annotations reach the classic list as hints', async () => {
    const yaml = config({
      tool: 'annotations: {read_only: true, destructive: false, idempotent: true, open_world: false}',
    })
    const { client } = await connect(['--classic', tempFile('one.yaml', yaml)])
    const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
    expect((await client.listTools()).tools).toMatchObject([{ name: 't', annotations: hints }])
  })

  it.each(['read_only: true, open_world: false', 'readOnlyHint: true, openWorldHint: false'])(
    'annotations are described under their MCP names: %s',
    async (written) => {
      const file = tempFile('one.yaml', config({ tool: `annotations: {${written}}` }))
      const { stdout } = await runInline(['describe', 't', '-c', file, '--json'])
      expect(JSON.parse(stdout).tools[0].annotations).toEqual({ readOnlyHint: true, openWorldHint: false })
    },
  )

  it('rejects an annotation in two spellings', async () => {
    const file = tempFile('one.yaml', config({ tool: 'annotations: {read_only: true, readOnlyHint: false}' }))
    const { code, stdout } = await runInline(['validate', '--strict', file])
    expect(code).toBe(3)
    expect(stdout).toContain("'readOnlyHint' repeats a key in another spelling")
    const annotations = { readOnly: true, readOnlyHint: false }
    const both = { command: 'x', tools: [{ name: 't', description: 'd', annotations }] }
    expect(() => ToolIndex.fromConfigs([both])).toThrow(/readOnly/)
  })

  it('example requests are part of the full description', async () => {
    const file = tempFile('one.yaml', config({ tool: 'example_requests: [undo it, "start, again"]' }))
    const { stdout } = await runInline(['describe', 't', '-c', file, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ tools: [{ exampleRequests: ['undo it', 'start, again'] }] })
  })

  it('end_of_options of the config applies to its tools, unless they override it', async () => {
    const args = ['{name: p, positional: true}']
    expect(await openTools(config({ top: 'end_of_options: true', args })).argv('t', { p: '-x' })).toEqual([
      'prog',
      '--',
      '-x',
    ])
    const without = openTools(config({ top: 'end_of_options: true', tool: 'end_of_options: false', args }))
    await expect(without.argv('t', { p: '-x' })).rejects.toThrow('would be read as an option')
    expect(await openTools(config({ top: 'end_of_options: true', args })).argv('t')).toEqual(['prog'])
  })

  it('inherit_env selects the variables of the caller that a program sees', async () => {
    setEnv({ SEEN: 'seen', HIDDEN: 'hidden', TOOLDEX_API_KEY: 'never-told' })
    const command = tempScript('show', '#!/bin/sh\necho "[$SEEN][$HIDDEN][$ADDED][$TOOLDEX_API_KEY]"\n')
    const run = async (top: string) => (await openTools(config({ command, top })).call('t')).text
    expect(await run('env: {ADDED: added}')).toBe('[seen][hidden][added][]')
    expect(await run('inherit_env: [SEEN]')).toBe('[seen][][][]')
    expect(await run('inherit_env: false')).toBe('[][][][]')
  })

  it('a list is written flag by flag with repeat, and else behind one flag', async () => {
    const { argv, search } = openTools(
      config({ args: ['{name: tag, repeat: true}', '{name: ids, type: array, items: integer}'] }),
    )
    expect(await argv('t', { tag: ['a', 'b'], ids: ['1', 2] })).toEqual([
      'prog',
      '--tag',
      'a',
      '--tag',
      'b',
      '--ids',
      '1',
      '2',
    ])
    expect(await argv('t', { tag: [], ids: [] })).toEqual(['prog'])
    expect((await search({ query: 't', level: 'schema' })).data.results).toMatchObject([
      {
        inputSchema: {
          properties: { tag: { type: 'array', items: { type: 'string' } }, ids: { items: { type: 'integer' } } },
        },
      },
    ])
  })

  it('positions order positionals', async () => {
    const args = ['{name: b, positional: 2}', '{name: a, positional: 1}']
    expect(await openTools(config({ args })).argv('t', { b: 'second', a: 'first' })).toEqual([
      'prog',
      'first',
      'second',
    ])
  })

  it('a path stays under its root, links followed', async () => {
    const root = realpathSync(tempFolder())
    mkdirSync(join(root, 'inside'))
    symlinkSync('/etc', join(root, 'link'))
    const { argv } = openTools(config({ args: [`{name: file, type: path, root: ${JSON.stringify(root)}}`] }))
    for (const file of [root, join(root, 'inside'), join(root, 'inside', '..', 'new.txt'), join(root, '..odd')]) {
      expect(await argv('t', { file })).toEqual(['prog', '--file', file])
    }
    for (const file of [
      '/etc/passwd',
      join(root, '..', 'x'),
      join(root, 'link', 'passwd'),
      join(root, 'link'),
      `${root}-not`,
    ]) {
      await expect(argv('t', { file })).rejects.toThrow('it must be a path under')
    }
  })

  it('an unset variable in env is an error that names it, one with a default is filled in', async () => {
    setEnv({ UNSET_HERE: undefined, SET_HERE: 'set' })
    expect(() => load(config({ top: 'env: {A: "${UNSET_HERE}"}' }))).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        problems: [expect.objectContaining({ line: 4, message: expect.stringContaining('UNSET_HERE') })],
      }),
    )
    const command = tempScript('show', '#!/bin/sh\necho "$A $B $C"\n')
    const yaml = config({ command, top: 'env: {A: "${UNSET_HERE:-fallback}", B: "${SET_HERE}", C: "$SET_HERE"}' })
    expect((await openTools(yaml).call('t')).text).toBe('fallback set $SET_HERE')
  })

  it('an unknown key is a warning with what was meant, and an error under --strict', async () => {
    const file = tempFile(
      'one.yaml',
      config({ tool: 'tiemout: 5', args: ['{name: a, requird: true}'], command: 'echo' }),
    )
    const loose = await runInline(['validate', file])
    expect(loose.code).toBe(0)
    expect(loose.stdout).toContain("unknown key 'tiemout'. Did you mean 'timeout'?")
    expect(loose.stdout).toContain("unknown key 'requird'. Did you mean 'required'?")
    expect((await runInline(['validate', '--strict', file])).code).toBe(3)
  })

  it('a config written in code takes the same fields by their names there', () => {
    const index = ToolIndex.fromConfigs([
      {
        command: 'x',
        endOfOptions: true,
        tools: [{ name: 't', description: 'd', exampleRequests: ['do it'], annotations: { readOnly: true } }],
      },
    ])
    expect(index.get('t')?.tool).toMatchObject({
      endOfOptions: true,
      exampleRequests: ['do it'],
      annotations: { readOnlyHint: true },
    })
  })
})
