import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { needs } from './support/needs.ts'
import { mainFile } from './support/run-cli.ts'
import { runInline } from './support/run-here.ts'
import { tempFolder } from './support/temp-folder.ts'

// The clients come from the npm registry, once a machine; they are only asked to connect, never to call a model.
const folder = join(tmpdir(), 'tooldex-test-clients')
const packages = { 'node@24': 'node', '@google/gemini-cli@0.61': 'gemini', '@anthropic-ai/claude-code@2': 'claude' }
const bin = join(folder, 'node_modules', '.bin')
const ready = installClients()

function installClients(): boolean {
  if (Object.values(packages).every((name) => existsSync(join(bin, name)))) return true
  try {
    mkdirSync(folder, { recursive: true })
    execFileSync('npm', ['install', '--no-save', '--prefix', folder, ...Object.keys(packages)], {
      stdio: 'ignore',
      timeout: 240_000,
    })
    return Object.values(packages).every((name) => existsSync(join(bin, name)))
  } catch {
    return false
  }
}

async function ask(client: string, words: readonly string[], home: string, cwd: string): Promise<string> {
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    NO_COLOR: '1',
    NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
  }
  const { stdout, stderr } = await promisify(execFile)(join(bin, client), [...words], { cwd, env, timeout: 120_000 })
  return stdout + stderr
}

describe('real clients connect', () => {
  const test = needs(ready, 'the clients could not be installed from the npm registry')

  test('claude mcp list, under Node 24', async () => {
    const [home, cwd] = [tempFolder(), tempFolder()]
    await ask(
      'claude',
      ['mcp', 'add', 'tooldex', '--', process.execPath, mainFile, 'run', 'git', 'coreutils'],
      home,
      cwd,
    )
    expect(await ask('claude', ['mcp', 'list'], home, cwd)).toMatch(/tooldex: .* Connected/)
  })

  test('gemini mcp list, with the config that tooldex install wrote', async () => {
    const [home, cwd] = [tempFolder(), tempFolder()]
    const { code } = await runInline(['install', 'gemini', 'git', 'coreutils'], { cwd, env: { HOME: home } })
    expect(code).toBe(0)
    writeFileSync(join(home, '.gemini', 'trustedFolders.json'), JSON.stringify({ [cwd]: 'TRUST_FOLDER' }))
    expect(await ask('gemini', ['mcp', 'list'], home, cwd)).toMatch(/tooldex: .* Connected/)
  })
})
