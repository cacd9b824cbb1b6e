import { describe, expect, it } from 'vitest'
import { needsLevel } from '../../../tests/support/needs.ts'
import { tempFolder } from '../../../tests/support/temp-folder.ts'
import { describeExecutor, toolOf } from '../executor.suite.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import { fillCommand } from './fill-command.ts'
import { createShellExecutor } from './shell-executor.ts'

const sandbox = new Sandbox({ env: process.env, allowLimited: true })
const executor = createShellExecutor({ sandbox, env: process.env })

for (const isolation of ['isolated', 'confined', 'limited'] as const) {
  const tool = (command: unknown[], more = {}) => ({ executorConfig: { command, isolation, ...more } })
  const when = await needsLevel(isolation)
  describeExecutor(`shell, ${isolation}`, () => ({
    executor,
    isolation,
    when,
    echo: tool(['printf', '%s', '{{text}}']),
    fail: tool(['sh', '-c', 'echo it went wrong >&2; exit 3']),
    wait: tool(['sh', '-c', 'echo started; sleep 60']),
    flood: tool(['yes']),
    greet: tool(['printenv', 'GREETING'], { env: { GREETING: 'secret:greeting' } }),
  }))
}

describe('fillCommand', () => {
  const fill = (command: (string | string[])[], input: Record<string, unknown>, dashes?: string[]) =>
    fillCommand(command, { input, dashes })

  it('puts each value in as one word, a list as many', () => {
    expect(fill(['a', '{{ x }}', '{{y}}'], { x: 'two words', y: [1, true, 'z'] })).toEqual([
      'a',
      'two words',
      '1',
      'true',
      'z',
    ])
    expect(fill(['a', '{{x}}'], { x: '' })).toEqual(['a', ''])
    expect(fill(['a', '{{x}}'], { x: { deep: [1] } })).toEqual(['a', '{"deep":[1]}'])
  })

  it('drops the word of an absent argument, and the list that contains it', () => {
    expect(fill(['a', '{{x}}', 'b'], {})).toEqual(['a', 'b'])
    expect(fill(['a', ['--x', '{{x}}'], ['--y', '{{y}}']], { y: 1, x: null })).toEqual(['a', '--y', '1'])
    expect(fill(['a', '{{x}}'], { x: [] })).toEqual(['a'])
  })

  it('refuses a value that would be read as an option, unless it cannot be', () => {
    for (const value of ['-rf', '--output=x', '--', -5])
      expect(() => fill(['rm', '{{x}}'], { x: value })).toThrow('starts with a dash')
    expect(() => fill(['rm', '{{x}}'], { x: ['ok', '-rf'] })).toThrow('starts with a dash')
    expect(fill(['rm', '--', '{{x}}'], { x: '-rf' })).toEqual(['rm', '--', '-rf'])
    expect(fill(['head', '-n', '{{x}}'], { x: -5 }, ['x'])).toEqual(['head', '-n', '-5'])
    expect(fill(['cat', '{{x}}'], { x: '-' })).toEqual(['cat', '-'])
  })

  it('refuses a NUL byte, and takes nothing from prototypes', () => {
    expect(() => fill(['a', '{{x}}'], { x: 'a\0b' })).toThrow('NUL')
    expect(fill(['a', '{{constructor}}'], {})).toEqual(['a'])
  })
})

const whenLevel = { isolated: await needsLevel('isolated'), confined: await needsLevel('confined') }

describe('shell executor', () => {
  const run = (executorConfig: object, input = {}) =>
    executor
      .prepare({ tool: toolOf('shell', { executorConfig: executorConfig as Record<string, unknown> }), input })
      .run({})

  whenLevel.isolated('has a fresh folder, a small environment, and pipes a value to stdin', async () => {
    const { result } = await run({ command: ['sh', '-c', 'pwd; env | sort; cat'], stdin: 'text' }, { text: 'piped' })
    expect(result.stdout).toBe('/work\nHOME=/work\nPATH=/usr/local/bin:/usr/bin:/bin\nPWD=/work\npiped')
  })

  it('names a missing program, and one that is not visible inside the sandbox', async () => {
    await expect(run({ command: ['no-such-program'] })).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' })
    await expect(
      run({ command: [process.execPath.startsWith('/usr') ? '/etc/hostname' : process.execPath] }),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/POLICY_REFUSED|COMMAND_NOT_EXECUTABLE/),
    })
    await expect(run({ command: ['true'], cwd: '/root' })).rejects.toMatchObject({ code: 'POLICY_REFUSED' })
  })

  it('names the flag that allows a folder which a failed command did not see', async () => {
    const command = ['cat', '{{file}}']
    const read = async (file: string, config = {}) => (await run({ command, ...config }, { file })).errorMessage ?? ''
    expect(await read('/srv/none/notes.txt')).toContain('tooldex serve --allow-folder /srv/none (append :rw')
    // It may be a file or a folder.
    expect(await read('/srv/none/README')).toContain('--allow-folder /srv/none/README, or /srv/none if that is a file')
    const folder = tempFolder()
    const open = createShellExecutor({
      sandbox: new Sandbox({ env: process.env, folders: [{ path: folder, writable: false }] }),
      env: process.env,
    })
    const tool = toolOf('shell', { executorConfig: { command } })
    const outcome = await open.prepare({ tool, input: { file: `${folder}/a.txt` } }).run({})
    expect(outcome.errorMessage).toContain(`Name ${folder} as cwd or in paths of the tool.`)
    expect((await run({ command: ['false'] })).errorMessage).not.toContain('visible')
  })

  for (const isolation of ['isolated', 'confined'] as const)
    whenLevel[isolation](`distinguishes a signal from an exit code: ${isolation}`, async () => {
      const { errorCode, result } = await run({ command: ['sh', '-c', 'kill -SEGV $$'], isolation })
      expect([errorCode, result.signal, result.exitCode]).toEqual(['KILLED_BY_SIGNAL', 'SIGSEGV', null])
      const failed = await run({ command: ['sh', '-c', 'exit 255'], isolation })
      expect([failed.errorCode, failed.result.exitCode]).toEqual(['EXECUTION_FAILED', 255])
    })
})
