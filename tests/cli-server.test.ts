import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './support/keys.ts'
import { register } from './support/rest.ts'
import { runCli } from './support/run-cli.ts'
import { runInline } from './support/run-here.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { tempFolder } from './support/temp-folder.ts'

const none = { TOOLDEX_URL: '', DATABASE_URL: '', TOOLDEX_API_KEY: '' }
let server: TestServer

beforeAll(async () => {
  server = await startServer({ words: ['coreutils'] })
  await register(server, 'zebra_count', { description: 'Counts the zebras of a herd.' })
  await server.request('POST', '/tools/zebra_count/activate')
  await register(server, 'zebra_draft', { description: 'Counts zebras, but not yet.' })
  await eventually(
    () => server.request('GET', '/search?query=zebra_count'),
    ({ text }) => text.includes('zebra_count'),
  )
})
afterAll(() => server?.stop())

/** The ways in which a command finds the server, as environments. */
const ways = () =>
  [
    ['TOOLDEX_URL', { ...none, TOOLDEX_HOME: tempFolder(), TOOLDEX_URL: server.url, TOOLDEX_API_KEY: server.key }],
    ['server.json', { ...none, TOOLDEX_HOME: server.home, TOOLDEX_API_KEY: server.key }],
    ['--server', { ...none, TOOLDEX_HOME: tempFolder(), TOOLDEX_API_KEY: server.key }],
  ] as const

describe('commands that read tools query the server', () => {
  it.each([0, 1, 2])('by each way of finding it (%#)', async (index) => {
    const [way, env] = ways()[index] as ReturnType<typeof ways>[number]
    const more = way === '--server' ? ['--server', server.url] : []
    const json = async (words: readonly string[]) => {
      const { code, stdout, stderr } = await runInline([...words, ...more, '--json'], { env })
      expect([code, stderr]).toEqual([0, ''])
      return JSON.parse(stdout)
    }
    const found = await json(['search', 'count', 'zebras'])
    expect(found.results[0]).toMatchObject({ name: 'zebra_count' })
    const overview = await json(['search'])
    const sources = overview.summary.map((row: { name: string }) => row.name)
    expect(sources.slice(0, 2)).toEqual(['coreutils', 'registry'])
    // A server that was only found is asked besides the configs here, which `call` runs, too.
    expect(sources.includes('git')).toBe(way === 'server.json')
    const here = await runInline(['describe', 'git_status', ...more, '--json'], { env })
    expect(here.code).toBe(way === 'server.json' ? 0 : 4)
    expect((await json(['describe', 'zebra_count'])).tools[0].summary).toBe('Counts the zebras of a herd.')
    const list = await json(['list'])
    expect(list.configs).toContain('git')
    expect(list.tools.map((tool: { name: string }) => tool.name)).toEqual(['zebra_count'])
  })

  it('lists the limits of the server without a subcommand', async () => {
    await server.request('PUT', '/limits/slow', { body: { tool: 'zebra_count', callsPerMinute: 2 } })
    const env = { ...none, TOOLDEX_HOME: server.home, TOOLDEX_API_KEY: server.key }
    expect((await runInline(['limits'], { env })).stdout).toMatch(
      /slow +tool zebra_count +together +0\/2 callsPerMinute/,
    )
  })

  it('lists registered tools after the configs, in words', async () => {
    const { stdout } = await runInline(['list'], {
      env: { ...none, TOOLDEX_HOME: server.home, TOOLDEX_API_KEY: server.key },
    })
    expect(stdout).toMatch(new RegExp(`coreutils[\\s\\S]*registered at ${server.url} - 1 tool[\\s\\S]*zebra_count`))
  })

  it('but not where configs or a policy are named, which are those here', async () => {
    const env = { ...none, TOOLDEX_HOME: server.home, TOOLDEX_API_KEY: server.key, TOOLDEX_URL: server.url }
    const search = await runInline(['search', 'zebras', '-c', 'coreutils', '--json'], { env })
    expect(search.stdout).not.toContain('zebra_count')
    const list = await runInline(['list', 'coreutils'], { env })
    expect(list.stdout).toMatch(/^coreutils - \d+ tool/)
    const describes = await runInline(['describe', 'zebra_count', '-c', 'coreutils'], { env })
    expect(describes.code).toBe(4)
    const both = await runInline(['search', 'zebras', '-c', 'coreutils', '--server', server.url], { env })
    expect(both).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('configs or --policy: a server has its own'),
    })
  })
})

describe('a name in the path of a request', () => {
  it.each([
    ['', 'must not be empty'],
    ['.', "must not be '.'"],
    ['..', "must not be '..'"],
    ['\ud800', 'must not be damaged text'],
  ])('is refused where it would name another route: %j', async (name, message) => {
    const env = { ...none, TOOLDEX_HOME: tempFolder(), TOOLDEX_URL: server.url, TOOLDEX_API_KEY: server.key }
    for (const words of [
      ['call'],
      ['tools', 'get'],
      ['tools', 'activate'],
      ['keys', 'revoke'],
      ['executions', 'cancel'],
    ]) {
      const { code, stderr } = await runInline([...words, name], { env })
      expect([code, stderr], words.join(' ')).toEqual([2, expect.stringContaining(message)])
    }
  })
})

describe('a server that was only found', () => {
  const search = (env: Record<string, string>) =>
    runInline(['search', 'count', 'words', '--json'], { env: { ...none, ...env } })
  const homeWith = (entry: object) => {
    const home = join(tempFolder(), 'home')
    mkdirSync(home)
    writeFileSync(join(home, 'server.json'), JSON.stringify(entry))
    return home
  }

  it('is not queried without a key, with a note', async () => {
    const { code, stdout, stderr } = await search({ TOOLDEX_HOME: server.home })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).results.length).toBeGreaterThan(0)
    expect(stderr).toContain(`Set TOOLDEX_API_KEY to include the tools of the server at ${server.url}`)
  })

  it('does not block a command with a wrong key, or when it does not answer', async () => {
    const wrong = await search({ TOOLDEX_HOME: server.home, TOOLDEX_API_KEY: 'wrong' })
    expect([wrong.code, wrong.stderr]).toEqual([0, expect.stringContaining('Only local configs are used.')])
    const home = homeWith({ url: 'http://127.0.0.1:9', pid: process.pid })
    const away = await search({ TOOLDEX_HOME: home, TOOLDEX_API_KEY: server.key })
    expect([away.code, away.stderr]).toEqual([0, expect.stringContaining('does not answer')])
  })

  it('is not queried when its process is gone', async () => {
    const home = homeWith({ url: server.url, pid: 2 ** 22 + 1 })
    expect(await search({ TOOLDEX_HOME: home, TOOLDEX_API_KEY: server.key })).toMatchObject({ code: 0, stderr: '' })
  })

  it('takes the values of a config tool without a flag, as the command does here', async () => {
    const env = { ...none, TOOLDEX_HOME: tempFolder(), TOOLDEX_API_KEY: server.key }
    const { stdout, stderr } = await runCli(['call', '--server', server.url, 'coreutils_ls', '/usr'], { env })
    expect(stdout, stderr).toContain('bin')
  })

  it('is an error all the same where it was named', async () => {
    const env = { TOOLDEX_HOME: tempFolder(), TOOLDEX_URL: 'http://127.0.0.1:9', TOOLDEX_API_KEY: server.key }
    const { code, stdout } = await search(env)
    expect([code, JSON.parse(stdout).error.code]).toEqual([75, 'UNAVAILABLE'])
  })
})
