import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clientNames, clients } from '../src/operations/clients.ts'
import { mainFile, runCli } from './support/run-cli.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

function place() {
  const home = tempFolder()
  const cwd = join(home, 'project')
  mkdirSync(cwd)
  const env = { HOME: home, XDG_CONFIG_HOME: undefined, CODEX_HOME: undefined, TOOLDEX_HOME: undefined }
  return { cwd, env, home, platform: process.platform }
}

describe('tooldex install', () => {
  it.each(clientNames)('%s: writes the server, again changes nothing', async (name) => {
    const here = place()
    const file = clients[name].file({ ...here, env: {} })
    const first = await runCli(['install', name, 'git'], here)
    expect(first.code, first.stderr).toBe(0)
    const text = readFileSync(file, 'utf8')
    for (const word of ['tooldex', mainFile, 'run', 'git']) expect(text).toContain(word)
    const again = await runCli(['install', name, 'git'], here)
    expect(again.stdout).toContain('has it already')
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  it.each(clientNames)('%s: a dry run shows the change and makes none', async (name) => {
    const here = place()
    const { stdout } = await runCli(['install', name, 'git', '--dry-run'], here)
    expect(stdout).toMatch(/^\+.*tooldex/m)
    expect(existsSync(clients[name].file({ ...here, env: {} }))).toBe(false)
  })

  it('keeps other servers, comments and a backup', async () => {
    const here = place()
    const file = join(here.cwd, '.vscode', 'mcp.json')
    const before = '{\n\t// mine\n\t"servers": {\n\t\t"other": { "command": "x" } // keep\n\t}\n}\n'
    mkdirSync(dirname(file))
    writeFileSync(file, before)
    await runCli(['install', 'vscode', 'git'], here)
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
    await runCli(['install', 'codex', 'git'], here)
    const after = readFileSync(file, 'utf8')
    expect(after).toContain('model = "o"  # mine')
    expect(after).toContain('[other]\nx = 1 # keep')
    expect(after).not.toContain('"old"')
  })

  it('refuses a broken client config with its place and leaves it alone', async () => {
    const here = place()
    const file = tempFile('.cursor/mcp.json', '{\n  "mcpServers": {,}\n}\n', here.home)
    const { code, stderr } = await runCli(['install', 'cursor', 'git'], here)
    expect(code).toBe(3)
    expect(stderr).toMatch(new RegExp(`${file}:2:\\d+: is not valid JSON`))
    expect(readFileSync(file, 'utf8')).toBe('{\n  "mcpServers": {,}\n}\n')
    expect(readdirSync(dirname(file))).toEqual(['mcp.json'])
  })

  it('refuses an unknown client, and a config that would not load', async () => {
    const here = place()
    expect((await runCli(['install', 'emacs', 'git'], here)).stderr).toContain('claude-code')
    expect((await runCli(['install', 'cursor', 'no-such-config'], here)).code).toBe(3)
    expect(existsSync(join(here.home, '.cursor'))).toBe(false)
  })

  it('makes paths absolute', async () => {
    const here = place()
    tempFile('my.yaml', 'command: echo\ntools: []\n', here.cwd)
    await runCli(['install', 'cursor', 'my.yaml'], here)
    expect(readFileSync(join(here.home, '.cursor', 'mcp.json'), 'utf8')).toContain(join(here.cwd, 'my.yaml'))
  })
})
