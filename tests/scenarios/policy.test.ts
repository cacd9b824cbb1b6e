import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig, loadPolicy, Policy, ToolIndex } from '../../src/index.ts'
import { needs } from '../support/needs.ts'
import { runCli } from '../support/run-cli.ts'
import { runInline } from '../support/run-here.ts'
import { climaxConfigs, hasClimaxConfigs } from '../support/shared-data.ts'
import { tempFile } from '../support/temp-folder.ts'
import { dockerYaml, gitYaml, load, names } from './index-fixtures.ts'
import { openTools, setEnv } from './open-tools.ts'

const parse = (yaml: string) => loadPolicy(tempFile('policy.yaml', yaml)).value
const withClimax = needs(hasClimaxConfigs, 'CLImax configs are not here')
const climaxFile = (name: string) => join(climaxConfigs, `${name}.yaml`)
const climaxText = (name: string) => readFileSync(climaxFile(name), 'utf8')

const noteYaml = `
name: notes
command: note
env: {NOTE_TOKEN: secret-token, NOTE_HOME: /notes}
tools:
  - name: note_write
    description: Write a note
    command: write
    args:
      - {name: title, required: true}
      - {name: copies, type: integer, default: 1}
      - {name: tag, repeat: true}
      - {name: tail, description: A number that is a text}
      - {name: body, stdin: true}
  - {name: note_list, description: List notes, command: list}
`
const rule = (arg: string, constraint: string) => `tools:\n  note_write:\n    args:\n      ${arg}: ${constraint}\n`

describe('CLImax\u2019s own policies', () => {
  withClimax('read-only git: three tools, history of at most 100', async () => {
    const policy = climaxText('readme-readonly-git.policy')
    const { search, argv, call } = openTools(climaxText('git'), policy)
    expect((await search({})).data.summary).toMatchObject([{ name: 'git-tools', toolCount: 3 }])
    expect(await argv('git_log', { max_count: 100 })).toEqual(['git', 'log', '-n', '100'])
    await expect(argv('git_log', { max_count: 101 })).rejects.toThrow('value 101 exceeds maximum 100')
    expect(await call('git_commit', { message: 'x' })).toMatchObject({
      isError: true,
      data: { error: { code: 'TOOL_NOT_FOUND' } },
    })
  })

  withClimax('allow all, constrain one: every tool, staging under src only', async () => {
    const { search, argv } = openTools(climaxText('git'), climaxText('readme-allow-all-constrain-one.policy'))
    expect((await search({})).data.summary).toMatchObject([{ toolCount: 6 }])
    expect(await argv('git_add', { path: 'src/a.ts' })).toEqual(['git', 'add', 'src/a.ts'])
    await expect(argv('git_add', { path: 'lib/src/a.ts' })).rejects.toThrow('does not match pattern')
    expect(await argv('git_commit', { message: 'x' })).toEqual(['git', 'commit', '-m', 'x'])
  })

  withClimax('docker sandbox: two tools in a container without a network', async () => {
    setEnv({ PROJECT_DIR: '/home/ada/project' })
    const { argv, search } = openTools(climaxText('git'), climaxText('readme-docker-sandbox.policy'))
    expect((await search({})).data.summary).toMatchObject([{ toolCount: 2 }])
    expect(await argv('git_status', { short: true })).toEqual([
      ...['docker', 'run', '--rm', '--name', expect.stringMatching(/^tooldex-[0-9a-f]{12}$/)],
      ...['-v', '/home/ada/project:/workspace', '--network', 'none', '-w', '/workspace'],
      ...['alpine/git:latest', 'git', 'status', '--short'],
    ])
  })

  withClimax('full schema: loads, describes anew, and warns of the argument that git_diff does not have', async () => {
    const file = climaxFile('readme-full-schema.policy')
    const { value, warnings } = loadPolicy(file)
    expect(warnings).toEqual([])
    expect(value).toEqual({
      executor: {
        type: 'docker',
        image: 'alpine/git:latest',
        volumes: ['${PROJECT_DIR}:/workspace'],
        workingDir: '/workspace',
        network: 'none',
      },
      default: 'disabled',
      tools: {
        git_status: { args: {} },
        git_log: { description: 'Show recent log (max 100)', args: { max_count: { max: 100 } } },
        git_add: { args: { path: { pattern: '^src/.*' } } },
        git_diff: { args: { commits: { min: 0, max: 5 } } },
      },
    })
    const index = ToolIndex.fromConfigs([loadConfig(climaxFile('git'))], { policy: value })
    expect(names(index.search())).toEqual(['git_status', 'git_log', 'git_diff', 'git_add'])
    expect(index.search({ query: 'max 100' })).toMatchObject([
      { toolName: 'git_log', description: 'Show recent log (max 100)' },
    ])
    expect(index.get('git_log')?.argConstraints).toEqual({ max_count: { max: 100 } })
    const { stdout, code } = await runInline(['validate', climaxFile('git'), '--policy', file])
    expect(code).toBe(0)
    expect(stdout).toContain('policy - 4 tool rule(s)')
    expect(stdout).toContain("the policy constrains 'commits' of git_diff, which has no such argument")
  })
})

describe('which tools there are', () => {
  const shown = (policy: string) => names(ToolIndex.fromConfigs([load(noteYaml)], { policy: parse(policy) }).search())

  it('only those named, unless the default is enabled', () => {
    expect(shown('tools: {note_list: {}}\n')).toEqual(['note_list'])
    expect(shown('default: disabled\n')).toEqual([])
    expect(shown('default: enabled\n')).toEqual(['note_write', 'note_list'])
    expect(shown('default: enabled\ntools: {note_list: {description: Other}}\n')).toEqual(['note_write', 'note_list'])
  })

  it('the name of an object method is not a rule', () => {
    const config = {
      command: 'x',
      tools: [
        { name: 'toString', description: 'd' },
        { name: 'hasOwnProperty', description: 'd' },
      ],
    }
    expect(ToolIndex.fromConfigs([config], { policy: Policy.parse({}) }).search()).toEqual([])
  })

  it('the configs themselves stay as they were', () => {
    const config = load(noteYaml)
    ToolIndex.fromConfigs([config], { policy: parse('tools: {note_list: {description: Other}}\n') })
    expect(config).toEqual(load(noteYaml))
  })

  it('warns of tools and arguments that no config has', async () => {
    const config = tempFile('notes.yaml', noteYaml)
    const policy = tempFile(
      'policy.yaml',
      'default: enabled\ntools:\n  note_wirte: {}\n  note_write:\n    args:\n      titel: {pattern: x}\n',
    )
    const { code, stdout } = await runInline(['validate', config, '--policy', policy])
    expect(code).toBe(0)
    expect(stdout).toContain("the policy names the tool 'note_wirte', which no config has")
    expect(stdout).toContain("the policy constrains 'titel' of note_write, which has no such argument")
    const listed = await runCli(['list', config, '--policy', policy])
    expect(listed.stderr).toContain("the policy names the tool 'note_wirte', which no config has")
  })

  it('shows its rules in the list', async () => {
    const policy = tempFile(
      'policy.yaml',
      rule('title', '{pattern: "[a-z]+"}').replace('title:', 'copies: {min: 1, max: 3}\n      title:'),
    )
    const { stdout } = await runInline(['list', tempFile('notes.yaml', noteYaml), '--policy', policy, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      tools: [
        {
          name: 'note_write',
          args: [
            { name: 'title', notes: ['required', 'pattern=[a-z]+'] },
            { name: 'copies', notes: ['integer', 'default=1', 'min=1', 'max=3'] },
            ...[{ name: 'tag' }, { name: 'tail' }, { name: 'body' }],
          ],
        },
      ],
    })
  })
})

describe('which values are allowed', () => {
  const allowed = async (policy: string, given: Record<string, unknown>) => {
    const { isError, data } = await openTools(noteYaml, policy).rawCall({
      name: 'note_write',
      arguments: { title: 'x', ...given },
      dryRun: true,
    })
    if (isError) expect(data).toMatchObject({ error: { code: 'POLICY_REFUSED' } })
    return !isError
  }

  it.each([
    ['abc', true],
    ['', false],
    ['abc1', false],
    ['1abc', false],
    ['abc\n', false],
    ['abc\nabc', false],
  ])('a pattern matches from end to end: %j is %s', async (title, expected) => {
    expect(await allowed(rule('title', '{pattern: "[a-z]+"}'), { title })).toBe(expected)
  })

  it('an alternative does not open the ends', async () => {
    expect(await allowed(rule('title', '{pattern: "a|b"}'), { title: 'b' })).toBe(true)
    expect(await allowed(rule('title', '{pattern: "a|b"}'), { title: 'ab' })).toBe(false)
    expect(await allowed(rule('title', '{pattern: "^src/.*"}'), { title: 'src/../etc' })).toBe(true)
    expect(await allowed(rule('title', '{pattern: "^src/.*"}'), { title: ' src/a' })).toBe(false)
  })

  it.each([
    [0, false],
    [1, true],
    [3, true],
    [4, false],
    ['3', true],
    ['4', false],
  ])('min and max include themselves: %j of 1 to 3 is %s', async (copies, expected) => {
    expect(await allowed(rule('copies', '{min: 1, max: 3}'), { copies })).toBe(expected)
  })

  it.each([
    ['5', true],
    ['5.5', true],
    ['11', false],
    ['', false],
    ['  ', false],
    ['all', false],
    ['0x5', false],
    ['1e0', false],
    ['Infinity', false],
    ['NaN', false],
  ])('a bound on a string applies to its number: %j of 0 to 10 is %s', async (tail, expected) => {
    expect(await allowed(rule('tail', '{min: 0, max: 10}'), { tail })).toBe(expected)
  })

  it('a pattern holds for numbers too, in their text', async () => {
    expect(await allowed(rule('copies', '{pattern: "[12]"}'), { copies: 2 })).toBe(true)
    expect(await allowed(rule('copies', '{pattern: "[12]"}'), { copies: 3 })).toBe(false)
  })

  it('every value of a list is checked, and so is standard input', async () => {
    expect(await allowed(rule('tag', '{pattern: "[a-z]+"}'), { tag: ['a', 'b'] })).toBe(true)
    expect(await allowed(rule('tag', '{pattern: "[a-z]+"}'), { tag: ['a', 'B'] })).toBe(false)
    expect(await allowed(rule('body', '{pattern: "[a-z]+"}'), { body: 'NO' })).toBe(false)
  })

  it('all violations are reported at once', async () => {
    const policy = `${rule('title', '{pattern: "[0-9]+"}')}      copies: {min: 5}\n`
    const { text } = await openTools(noteYaml, policy).call('note_write', { title: 'x' })
    expect(text.split('\n').slice(0, 3)).toEqual([
      'Policy validation failed:',
      "  - Argument 'title': value 'x' does not match pattern '[0-9]+'",
      "  - Argument 'copies': value 1 is below minimum 5",
    ])
  })

  it.each(['(a+)+$', '(a|a)*b', '(a|aa)+$', '(.*)*x', '(\\w+\\s?)*$', '([a-z]+)*!'])(
    'the pattern %s does not hang on 50 characters',
    async (pattern) => {
      const { rawCall } = openTools(noteYaml, rule('title', JSON.stringify({ pattern })))
      const given = { name: 'note_write', arguments: { title: `${'a'.repeat(50)}?` }, dryRun: true }
      // The first call loads the matcher, which costs the same whatever the pattern is.
      await rawCall(given)
      const { isError } = await rawCall(given)
      expect(isError).toBe(true)
    },
  )

  it.each([
    ['(?=a)b', 'look-ahead'],
    ['(?!a)b', 'negative look-ahead'],
    ['(?<=a)b', 'look-behind'],
    ['(?<!a)b', 'negative look-behind'],
    ['(a)\\1', 'a back-reference'],
    ['(', 'a group that stays open'],
    ['[z-a]', 'a range the wrong way round'],
    ['*', 'nothing to repeat'],
    ['a{1001}', 'too many repetitions'],
  ])('%s is refused when loaded, with its place (%s)', (pattern) => {
    const yaml = `default: enabled\ntools:\n  note_write:\n    args:\n      title:\n        pattern: ${JSON.stringify(pattern)}\n`
    expect(() => parse(yaml)).toThrow(
      expect.objectContaining({
        code: 'POLICY_INVALID',
        problems: [
          expect.objectContaining({
            severity: 'error',
            line: 6,
            column: 18,
            message: expect.stringContaining('note_write.title: the pattern is not a valid regular expression'),
            hint: 'use RE2 syntax, which has no look-around and no back-references',
          }),
        ],
      }),
    )
  })
})

describe('where commands run', () => {
  const docker = (more = '') => `executor:\n  type: docker\n  image: img:1\n${more}default: enabled\n`
  const container = expect.stringMatching(/^tooldex-[0-9a-f]+$/)

  it('in a container: name, stdin, env by name, volumes, network and folder before the image', async () => {
    setEnv({ DATA_DIR: '/data', UNSET_DIR: undefined })
    const more =
      '  volumes: ["${DATA_DIR}:/data:ro", "$UNSET_DIR:/x", "${UNSET_DIR:-/y}:/y"]\n  network: none\n  working_dir: /work\n'
    const { argv } = openTools(noteYaml, docker(more))
    expect(await argv('note_write', { title: 'a b', body: 'piped' })).toEqual([
      ...['docker', 'run', '--rm', '--name', container, '-i', '-e', 'NOTE_TOKEN', '-e', 'NOTE_HOME'],
      ...['-v', '/data:/data:ro', '-v', '$UNSET_DIR:/x', '-v', '/y:/y', '--network', 'none', '-w', '/work'],
      ...['img:1', 'note', 'write', '--title', 'a b', '--copies', '1'],
    ])
  })

  it('in a container with nothing but an image', async () => {
    const { argv } = openTools(dockerYaml, docker())
    expect(await argv('docker_ps')).toEqual(['docker', 'run', '--rm', '--name', container, 'img:1', 'docker', 'ps'])
  })

  it('each call in a container of its own', async () => {
    const { argv } = openTools(dockerYaml, docker())
    expect((await argv('docker_ps'))[4]).not.toBe((await argv('docker_ps'))[4])
  })

  it('no value of the environment is on the command line', async () => {
    const { rawCall } = openTools(noteYaml, docker())
    const { data, text } = await rawCall({ name: 'note_list', dryRun: true })
    expect(JSON.stringify(data) + text).not.toContain('secret-token')
    expect(data).toMatchObject({ plan: { env: expect.arrayContaining(['NOTE_TOKEN', 'NOTE_HOME']) } })
  })

  it('locally, by the policy or by default', async () => {
    const expected = ['git', 'status', '--no-pager']
    for (const policy of [
      'default: enabled\n',
      'executor: {type: local}\ndefault: enabled\n',
      'executor: {}\ndefault: enabled\n',
    ]) {
      expect(await openTools(gitYaml, policy).argv('git_status')).toEqual(expected)
    }
  })

  it('is shown in the list', async () => {
    const policy = tempFile('policy.yaml', docker())
    const { stdout } = await runInline(['list', tempFile('git.yaml', gitYaml), '--policy', policy])
    expect(stdout).toContain('Executor: docker (image=img:1)')
  })

  it('the constraints hold there too', async () => {
    const { argv } = openTools(noteYaml, `${docker().replace('default: enabled\n', '')}${rule('copies', '{max: 0}')}`)
    await expect(argv('note_write', { title: 'x' })).rejects.toThrow('exceeds maximum 0')
  })

  it.each([
    ['docker without an image', 'executor: {type: docker}\n'],
    ['an unknown type', 'executor: {type: vm}\n'],
    ['volumes that are no list', 'executor: {type: docker, image: i, volumes: a}\n'],
    ['an empty image', 'executor: {type: docker, image: ""}\n'],
  ])('refuses %s', (_, yaml) => {
    expect(() => parse(yaml)).toThrow(expect.objectContaining({ code: 'POLICY_INVALID' }))
  })

  it('rejects unknown keys with a suggestion', () => {
    const file = tempFile('policy.yaml', 'defualt: enabled\nexecutor: {imgae: x}\n')
    const problems = [
      { severity: 'error', line: 1, column: 1, message: "unknown key 'defualt'. Did you mean 'default'?" },
      { severity: 'error', line: 2, column: 12, message: "unknown key 'imgae'. Did you mean 'image'?" },
    ]
    expect(() => loadPolicy(file)).toThrow(
      expect.objectContaining({
        code: 'POLICY_INVALID',
        problems: problems.map((problem) => expect.objectContaining(problem)),
      }),
    )
  })
})
