import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mainFile, projectRoot } from './support/run-cli.ts'
import { type PlainServer, startPlainServer } from './support/start-plain-server.ts'
import { tempFolder, tempScript } from './support/temp-folder.ts'

const key = 'tdx_a_key_for_tests_only_0123456789'

/** The commands of a guide, and the lines that it says they print. */
function readGuide(name: string) {
  const guide = readFileSync(join(projectRoot, 'docs', 'guides', `${name}.md`), 'utf8')
  const blocks = [...guide.matchAll(/^```(sh|text)\n([\s\S]*?)^```$/gm)].map(([, kind, text = '']) => ({ kind, text }))
  return {
    commands: blocks.filter(({ kind }) => kind === 'sh').map(({ text }) => text),
    expected: blocks.filter(({ kind }) => kind === 'text').flatMap(({ text }) => text.trim().split('\n')),
  }
}

describe.each([
  ['registry', ['--examples'], 8],
  ['runs', ['coreutils'], 6],
  ['toolsets', ['coreutils'], 4],
  ['from-opstack-tools', ['coreutils'], 2],
  ['client', ['coreutils'], 1],
] as const)('the guide to %s', (name, words, fewest) => {
  const { commands, expected } = readGuide(name)
  const home = mkdtempSync(join(tmpdir(), 'tooldex-guide-'))
  const work = join(home, 'work')
  const env = { ...process.env, TOOLDEX_HOME: join(home, 'home'), TOOLDEX_API_KEY: key, DATABASE_URL: '' }
  let server: PlainServer
  beforeAll(async () => {
    mkdirSync(join(work, 'node_modules'), { recursive: true })
    symlinkSync(projectRoot, join(work, 'node_modules', 'tooldex'))
    server = await startPlainServer(env, [...words, '--allow-folder', work])
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  it('has commands and their output', () => {
    expect(commands.length).toBeGreaterThanOrEqual(fewest)
    expect(expected.length).toBeGreaterThanOrEqual(4)
  })

  it('starts a server that greets in seven lines', async () => {
    const lines = server.said().trim().split('\n')
    expect(lines.filter((line) => !/^(database:|tools may)/.test(line))).toHaveLength(7)
    expect(server.said()).toContain(name === 'registry' ? 'and 3 registered tools' : 'and 0 registered tools')
  })

  it('can be followed from top to bottom', async () => {
    await follow(name, work, { ...env, TOOLDEX_URL: server.url })
  }, 600_000)
})

describe.each(['from-climax', 'from-tooldiscovery', 'library'])('the guide %s', (name) => {
  it('can be followed from top to bottom without a server', async () => {
    const home = tempFolder()
    const folder = join(home, 'work')
    mkdirSync(join(folder, 'node_modules'), { recursive: true })
    symlinkSync(projectRoot, join(folder, 'node_modules', 'tooldex'))
    // The guide defines the input of a function with it.
    symlinkSync(join(projectRoot, 'node_modules', 'zod'), join(folder, 'node_modules', 'zod'))
    await follow(name, folder, { ...process.env, TOOLDEX_HOME: join(home, 'home'), TOOLDEX_URL: '', DATABASE_URL: '' })
  }, 600_000)
})

/** Runs the commands of a guide and looks for every line that it says they print. */
async function follow(name: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { commands, expected } = readGuide(name)
  mkdirSync(folder, { recursive: true })
  const bin = join(tempScript('tooldex', `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`), '..')
  const inner = { ...env, PATH: `${bin}${delimiter}${process.env.PATH}`, COLUMNS: '200' }
  const script = ['set -euo pipefail', ...commands].join('\n')
  const { output, failed } = await new Promise<{ output: string; failed: boolean }>((resolve) =>
    execFile('bash', ['-c', script], { cwd: folder, env: inner, timeout: 580_000 }, (error, out, err) =>
      resolve({ output: `${out}\n${err}`, failed: error !== null }),
    ),
  )
  expect(failed, output).toBe(false)
  expect(expected.length).toBeGreaterThan(3)
  expect(
    expected.filter((line) => !output.includes(line)),
    output,
  ).toEqual([])
}
