import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type ClientName,
  chooseClientScope,
  clientFilePath,
  clientNames,
} from '../src/operations/clients/client-files.ts'
import { findClientServers } from '../src/operations/clients/find-client-servers.ts'
import { mainFile } from './support/run-cli.ts'
import { runInline } from './support/run-here.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

function place() {
  const home = tempFolder()
  const cwd = join(home, 'project')
  mkdirSync(cwd)
  const env = { HOME: home, XDG_CONFIG_HOME: undefined, CODEX_HOME: undefined, TOOLDEX_HOME: undefined }
  return { cwd, env, home, platform: process.platform }
}

const fileOf = (name: ClientName, here: ReturnType<typeof place>) =>
  clientFilePath(name, chooseClientScope(name), { ...here, env: {} })

describe('tooldex install', () => {
  it.each(clientNames)('%s: writes the server, again changes nothing', async (name) => {
    const here = place()
    const file = fileOf(name, here)
    const first = await runInline(['install', name, 'git'], here)
    expect(first.code, first.stderr).toBe(0)
    const text = readFileSync(file, 'utf8')
    for (const word of ['tooldex', 'run', 'git']) expect(text).toContain(word)
    // A file of the project may be committed: nothing of this machine is in it.
    expect(text.includes(mainFile)).toBe(chooseClientScope(name) === 'user')
    if (chooseClientScope(name) === 'project') expect(text).not.toMatch(/"[^"]*\/[^"]*"/)
    const again = await runInline(['install', name, 'git'], here)
    expect(again.stdout).toContain('Nothing to change')
    expect(readFileSync(file, 'utf8')).toBe(text)
    const removed = await runInline(['uninstall', name], here)
    expect(removed.code, removed.stderr).toBe(0)
    expect(readFileSync(file, 'utf8')).not.toContain('tooldex')
  })

  it.each(clientNames)('%s: a dry run shows the change and makes none', async (name) => {
    const here = place()
    const { stdout } = await runInline(['install', name, 'git', '--dry-run'], here)
    expect(stdout).toMatch(/^\+.*tooldex/m)
    expect(existsSync(fileOf(name, here))).toBe(false)
  })

  it('keeps other servers, comments and a backup', async () => {
    const here = place()
    const file = join(here.cwd, '.vscode', 'mcp.json')
    const before = '{\n\t// mine\n\t"servers": {\n\t\t"other": { "command": "x" } // keep\n\t}\n}\n'
    mkdirSync(dirname(file))
    writeFileSync(file, before)
    await runInline(['install', 'vscode', 'git'], here)
    const after = readFileSync(file, 'utf8')
    expect(after).toContain('// mine')
    expect(after).toContain('"other": { "command": "x" }')
    expect(after).toMatch(/\n\t\t"tooldex"/)
    expect(readFileSync(`${file}.backup`, 'utf8')).toBe(before)
  })

  it('keeps the other tables of a TOML config', async () => {
    const here = place()
    const before =
      'model = "o"  # mine\n\n[mcp_servers.tooldex]\ncommand = "old"\n\n[mcp_servers.tooldex.env]\nA = "1"\n\n[other]\nx = 1 # keep\n'
    const file = tempFile('.codex/config.toml', before, here.home)
    await runInline(['install', 'codex', 'git'], here)
    const after = readFileSync(file, 'utf8')
    expect(after).toContain('model = "o"  # mine')
    expect(after).toContain('[other]\nx = 1 # keep')
    expect(after).not.toContain('"old"')
  })

  it('refuses a broken client config with its place and leaves it alone', async () => {
    const here = place()
    const file = tempFile('.cursor/mcp.json', '{\n  "mcpServers": {,}\n}\n', here.home)
    const { code, stderr } = await runInline(['install', 'cursor', 'git'], here)
    expect(code).toBe(3)
    expect(stderr).toMatch(new RegExp(`${file}:2:\\d+: is not valid JSON`))
    expect(readFileSync(file, 'utf8')).toBe('{\n  "mcpServers": {,}\n}\n')
    expect(readdirSync(dirname(file))).toEqual(['mcp.json'])
  })

  it('refuses an unknown client, and a config that would not load', async () => {
    const here = place()
    expect((await runInline(['install', 'emacs', 'git'], here)).stderr).toContain('claude-code')
    expect((await runInline(['install', 'cursor', 'no-such-config'], here)).code).toBe(3)
    expect(existsSync(join(here.home, '.cursor'))).toBe(false)
  })

  it('makes paths absolute', async () => {
    const here = place()
    tempFile('my.yaml', 'command: echo\ntools: []\n', here.cwd)
    await runInline(['install', 'cursor', 'my.yaml'], here)
    expect(readFileSync(join(here.home, '.cursor', 'mcp.json'), 'utf8')).toContain(join(here.cwd, 'my.yaml'))
  })

  it('keeps TOOLDEX_HOME: its path for the user, a reference to it in a project', async () => {
    const here = place()
    const env = { ...here.env, TOOLDEX_HOME: join(here.home, 'my-home') }
    await runInline(['install', 'codex', 'git'], { ...here, env })
    expect(readFileSync(fileOf('codex', here), 'utf8')).toContain(
      `[mcp_servers.tooldex.env]\nTOOLDEX_HOME = "${env.TOOLDEX_HOME}"`,
    )
    await runInline(['install', 'vscode', 'git'], { ...here, env })
    const { servers } = JSON.parse(readFileSync(fileOf('vscode', here), 'utf8'))
    expect(servers.tooldex).toEqual({
      type: 'stdio',
      command: 'tooldex',
      args: ['run', 'git'],
      env: { TOOLDEX_HOME: '${env:TOOLDEX_HOME}' },
    })
    const usual = { ...env, TOOLDEX_HOME: join(here.home, '.tooldex') }
    await runInline(['install', 'gemini', 'git', '--scope', 'project'], { ...here, env: usual })
    const { mcpServers } = JSON.parse(readFileSync(join(here.cwd, '.gemini', 'settings.json'), 'utf8'))
    expect(mcpServers.tooldex).toEqual({ command: 'tooldex', args: ['run', 'git'] })
    const literal = { ...env, TOOLDEX_HOME: '$TOOLDEX_HOME' }
    const { code, stderr } = await runInline(['tools', 'list'], { ...here, env: literal })
    expect([code, stderr]).toEqual([78, expect.stringContaining("a variable that is not set: '$TOOLDEX_HOME'")])
    expect(existsSync(join(here.cwd, '$TOOLDEX_HOME'))).toBe(false)
  })

  it('writes to the requested scope, or names those of the client', async () => {
    const here = place()
    tempFile('tools/my.yaml', 'command: echo\ntools: []\n', here.cwd)
    const project = await runInline(['install', 'cursor', 'tools/my.yaml', '--scope', 'project'], here)
    expect(project.stderr).toMatch(/^note: .*not on your PATH/)
    const { mcpServers } = JSON.parse(readFileSync(join(here.cwd, '.cursor', 'mcp.json'), 'utf8'))
    expect(mcpServers.tooldex).toEqual({ command: 'tooldex', args: ['run', 'tools/my.yaml'] })
    const wrapper = dirname(tempFile('bin/tooldex', '#!/bin/sh\n', here.home))
    const env = { ...here.env, PATH: `${wrapper}${delimiter}${process.env.PATH}` }
    const wrapped = await runInline(['install', 'cursor', 'git', '--scope', 'project'], { ...here, env })
    expect(wrapped.stderr).toBe('')
    const none = await runInline(['install', 'codex', 'git', '--scope', 'project'], here)
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('Use --scope user.')])
    tempFile('outside.yaml', 'command: echo\ntools: []\n', here.home)
    const outside = await runInline(['install', 'vscode', '../outside.yaml'], here)
    expect([outside.code, outside.stderr]).toEqual([2, expect.stringContaining('outside this folder')])
  })

  it('names a server, and never writes a key', async () => {
    const here = place()
    const env = { ...here.env, TOOLDEX_API_KEY: 'tdx_never_written_0123456789' }
    const url = 'http://127.0.0.1:7331'
    const { stdout } = await runInline(['install', 'claude-code', '--server', url], { ...here, env })
    expect(stdout).not.toContain(env.TOOLDEX_API_KEY)
    const { mcpServers } = JSON.parse(readFileSync(fileOf('claude-code', here), 'utf8'))
    expect(mcpServers.tooldex).toMatchObject({
      args: ['run', '--server', url],
      env: { TOOLDEX_API_KEY: '${TOOLDEX_API_KEY:-}' },
    })
    expect((await runInline(['install', 'claude-code', '--server', 'nowhere'], here)).code).toBe(2)
  })

  it('lets a client connect to the MCP endpoint of a server, with the key in a variable or with OAuth', async () => {
    const here = place()
    const http = ['--http', '--server', 'http://127.0.0.1:7331/']
    const url = 'http://127.0.0.1:7331/mcp'
    const written = async (client: ClientName, words = http) => {
      const { code, stderr } = await runInline(['install', client, ...words], here)
      expect(code, stderr).toBe(0)
      return readFileSync(fileOf(client, here), 'utf8')
    }
    expect(JSON.parse(await written('claude-code')).mcpServers.tooldex).toEqual({
      type: 'http',
      url,
      headers: { Authorization: 'Bearer ${TOOLDEX_API_KEY:-}' },
    })
    const { tooldex } = JSON.parse(await written('gemini')).mcpServers
    expect(tooldex).toEqual({ httpUrl: url, headers: { Authorization: 'Bearer $TOOLDEX_API_KEY' } })
    expect(JSON.parse(await written('cursor', ['--oauth', ...http.slice(1)])).mcpServers.tooldex).toEqual({ url })
    expect(JSON.parse(await written('windsurf')).mcpServers.tooldex).toEqual({
      serverUrl: url,
      headers: { Authorization: 'Bearer ${env:TOOLDEX_API_KEY}' },
    })
    const oauth = ['--oauth', ...http.slice(1)]
    expect(JSON.parse(await written('zed', oauth)).context_servers.tooldex).toEqual({ url })
    expect(await written('codex')).toBe(
      `[mcp_servers.tooldex]\nurl = "${url}"\nbearer_token_env_var = "TOOLDEX_API_KEY"\n`,
    )
    for (const wrong of [
      ['claude-desktop', ...http],
      ['claude-desktop', ...oauth],
      ['zed', ...http],
      ['cursor', '--http'],
      ['cursor', 'git', ...http],
    ])
      expect((await runInline(['install', ...wrong], here)).code, wrong.join(' ')).toBe(2)
  })

  it.each(['claude-desktop', 'zed'] as const)(
    '%s: starts tooldex for a server over HTTP, and reports the missing key',
    async (name) => {
      const here = place()
      const env = { ...here.env, TOOLDEX_API_KEY: 'tdx_never_written_0123456789' }
      const server = ['--server', 'http://127.0.0.1:7331']
      const refused = await runInline(['install', name, '--http', ...server], { ...here, env })
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/omit --http/i)])
      expect(existsSync(fileOf(name, here))).toBe(false)
      const { code, stderr } = await runInline(['install', name, ...server], { ...here, env })
      expect([code, stderr]).toEqual([0, expect.stringContaining('needs TOOLDEX_API_KEY')])
      const text = readFileSync(fileOf(name, here), 'utf8')
      expect(text).not.toContain(env.TOOLDEX_API_KEY)
      const { tooldex } = Object.values(JSON.parse(text) as Record<string, Record<string, { args: string[] }>>)[0] ?? {}
      expect(tooldex?.args.slice(-3)).toEqual(['run', ...server])
    },
  )

  it('keeps the settings and comments of Zed, through installing and uninstalling', async () => {
    const here = place()
    const before =
      '// Zed settings\n{\n  "theme": "One Dark", // mine\n  "context_servers": {\n    // by hand\n    "other": { "command": "x", "args": [], },\n  },\n  "vim_mode": true,\n}\n'
    const file = tempFile(relative(here.home, fileOf('zed', here)), before, here.home)
    await runInline(['install', 'zed', 'git'], here)
    const after = readFileSync(file, 'utf8')
    for (const line of before.split('\n')) expect(after).toContain(line)
    const names = () =>
      findClientServers({ ...here, env: {} }, file).map(({ original, skipped }) => [original, skipped ?? 'read'])
    expect(names()).toEqual([
      ['other', 'read'],
      ['tooldex', 'it is Tooldex itself'],
    ])
    await runInline(['uninstall', 'zed'], here)
    const rest = readFileSync(file, 'utf8')
    expect(rest).not.toContain('tooldex')
    for (const kept of ['// Zed settings', '"theme": "One Dark", // mine', '// by hand', '"vim_mode": true,'])
      expect(rest).toContain(kept)
    expect(names()).toEqual([['other', 'read']])
  })

  it('uninstalls from among other servers, and where there is nothing', async () => {
    const here = place()
    expect((await runInline(['uninstall', 'cursor'], here)).stdout).toContain('Nothing to change')
    const before =
      '{\n  // mine\n  "mcpServers": {\n    "tooldex": { "command": "x" },\n    "other": { "command": "y" } // keep\n  }\n}\n'
    const file = tempFile('.cursor/mcp.json', before, here.home)
    const { stdout } = await runInline(['uninstall', 'cursor'], here)
    expect(stdout).toMatch(/\nCursor no longer starts it; [^\n]*\n$/)
    const after = readFileSync(file, 'utf8')
    expect(after).toContain('// mine')
    expect(after).toContain('"other": { "command": "y" } // keep')
    expect(after).not.toContain('tooldex')
    expect(readFileSync(`${file}.backup`, 'utf8')).toBe(before)
  })
})

describe('tooldex export mcp-config', () => {
  it.each(clientNames)('%s: prints what install writes into an empty file, and writes nothing', async (name) => {
    const here = place()
    const exported = await runInline(['export', 'mcp-config', name, 'git'], here)
    expect(exported.code, exported.stderr).toBe(0)
    const file = fileOf(name, here)
    expect(exported.stderr).toContain(file)
    expect(existsSync(file)).toBe(false)
    await runInline(['install', name, 'git'], here)
    expect(exported.stdout).toBe(readFileSync(file, 'utf8'))
  })

  it('prints mcpServers without a client, over stdio and over HTTP with a reference to the key', async () => {
    const here = place()
    const server = 'http://127.0.0.1:7331'
    const stdio = await runInline(['export', 'mcp-config'], here)
    expect(JSON.parse(stdio.stdout).mcpServers.tooldex).toMatchObject({ type: 'stdio', command: expect.any(String) })
    const env = { ...here.env, TOOLDEX_API_KEY: 'key-0123456789abcdef' }
    const http = await runInline(['export', 'mcp-config', '--http', '--server', server], { ...here, env })
    expect(JSON.parse(http.stdout).mcpServers.tooldex).toEqual({
      type: 'http',
      url: `${server}/mcp`,
      headers: { Authorization: 'Bearer ${TOOLDEX_API_KEY:-}' },
    })
    const named = await runInline(['export', 'mcp-config', 'codex', '--http', '--server', server, '--json'], here)
    expect(JSON.parse(named.stdout)).toMatchObject({
      client: 'Codex',
      config: expect.stringContaining('bearer_token_env_var = "TOOLDEX_API_KEY"'),
    })
  })

  it('refuses an unknown client, and HTTP for a client without it', async () => {
    const here = place()
    const unknown = await runInline(['export', 'mcp-config', 'emacs'], here)
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('claude-code') })
    const http = ['--http', '--server', 'http://127.0.0.1:7331']
    const refused = await runInline(['export', 'mcp-config', 'claude-desktop', ...http], here)
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Claude Desktop') })
  })
})
