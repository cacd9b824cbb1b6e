import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { needs } from './support/needs.ts'
import { mainFile } from './support/run-cli.ts'
import { runInline } from './support/run-here.ts'
import { startServer, type TestServer, testKey } from './support/start-server.ts'
import { tempFolder } from './support/temp-folder.ts'

// The clients come from the npm registry, once a machine; they are only asked to connect, never to call a model.
const folder = join(tmpdir(), 'tooldex-test-clients')
const packages = {
  'node@24': 'node',
  '@google/gemini-cli@0.61': 'gemini',
  '@anthropic-ai/claude-code@2': 'claude',
  '@openai/codex@0.169': 'codex',
  '@modelcontextprotocol/inspector@2': 'mcp-inspector',
}
const bin = join(folder, 'node_modules', '.bin')
const isInstalled = (client: string): boolean => existsSync(join(bin, client))
installClients()

function installClients(): void {
  if (Object.values(packages).every(isInstalled)) return
  mkdirSync(folder, { recursive: true })
  const words = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, ...Object.keys(packages)]
  try {
    execFileSync('npm', words, { stdio: 'ignore', timeout: 240_000 })
  } catch {
    // The tests of clients that are missing are skipped, with this reason in their names.
  }
}

async function run(client: string, words: readonly string[], home: string, cwd: string) {
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    NO_COLOR: '1',
    TOOLDEX_API_KEY: testKey,
    NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
  }
  return promisify(execFile)(join(bin, client), [...words], { cwd, env, timeout: 120_000 })
}

async function ask(...request: Parameters<typeof run>): Promise<string> {
  const { stdout, stderr } = await run(...request)
  return stdout + stderr
}

let server: TestServer
beforeAll(async () => {
  server = await startServer({ words: ['git', 'coreutils'] })
})
afterAll(() => server.stop())

describe('real clients connect', () => {
  const test = (client: string, name: string, work: () => Promise<void>) =>
    needs(isInstalled('node') && isInstalled(client), `${client} could not be installed from the npm registry`)(
      name,
      work,
    )

  test('claude', 'claude mcp list, under Node 24', async () => {
    const [home, cwd] = [tempFolder(), tempFolder()]
    await ask(
      'claude',
      ['mcp', 'add', 'tooldex', '--', process.execPath, mainFile, 'run', 'git', 'coreutils'],
      home,
      cwd,
    )
    expect(await ask('claude', ['mcp', 'list'], home, cwd)).toMatch(/tooldex: .* Connected/)
  })

  test('gemini', 'gemini mcp list, with the config that tooldex install wrote', async () => {
    const [home, cwd] = [tempFolder(), tempFolder()]
    const { code } = await runInline(['install', 'gemini', 'git', 'coreutils'], { cwd, env: { HOME: home } })
    expect(code).toBe(0)
    writeFileSync(join(home, '.gemini', 'trustedFolders.json'), JSON.stringify({ [cwd]: 'TRUST_FOLDER' }))
    expect(await ask('gemini', ['mcp', 'list'], home, cwd)).toMatch(/tooldex: .* Connected/)
  })

  test('codex', 'codex mcp list, with the configs that tooldex install wrote', async () => {
    const [home, cwd] = [tempFolder(), tempFolder()]
    const env = { HOME: home, CODEX_HOME: undefined }
    const http = ['--server', server.url, '--http', '--name', 'over-http']
    for (const words of [['git', 'coreutils'], http])
      expect((await runInline(['install', 'codex', ...words], { cwd, env })).code).toBe(0)
    const { stdout } = await run('codex', ['mcp', 'list', '--json'], home, cwd)
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'over-http', enabled: true, transport: { type: 'streamable_http', url: `${server.url}/mcp` } },
      { name: 'tooldex', enabled: true, transport: { type: 'stdio', args: [mainFile, 'run', 'git', 'coreutils'] } },
    ])
  })

  for (const era of ['legacy', 'modern'] as const) {
    const inspect = async (target: readonly string[], words: readonly string[]) => {
      const all = ['--cli', ...target, '--protocol-era', era, '--format', 'json', '--quiet', ...words]
      return JSON.parse((await run('mcp-inspector', all, tempFolder(), tempFolder())).stdout)
    }
    const search = ['--tool-name', 'search_tools', '--tool-arg', 'query=status of a repository']
    const ways = {
      stdio: () => [process.execPath, mainFile, 'run', 'git', 'coreutils'],
      HTTP: () => [`${server.url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${server.key}`],
    }
    for (const [way, target] of Object.entries(ways))
      test('mcp-inspector', `the CLI of the MCP inspector, ${era} protocol, over ${way}`, async () => {
        const { result } = await inspect(target(), ['--method', 'tools/list', '--strict'])
        const names = result.tools.map(({ name }: { name: string }) => name)
        expect(names).toEqual(['search_tools', 'describe_tool', 'call_tool'])
        const found = await inspect(target(), ['--method', 'tools/call', ...search])
        expect(found.result.structuredContent.results[0].name).toBe('git_status')
      })
  }
})
