import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tryZombies } from '../soak/zombies.ts'
import { connect, revisions } from '../support/connect.ts'
import { needs } from '../support/needs.ts'
import { runCli } from '../support/run-cli.ts'
import { tempFile, tempFolder, tempScript } from '../support/temp-folder.ts'
import { descendantEnvironments, findProcesses, uniqueSeconds } from './processes.ts'
import { containments, runTool } from './run-tool.ts'

// Whoever starts the tests has an environment too; what a tool may see is judged against a known one.
const parent = {
  PATH: process.env.PATH,
  HOME: '/home/someone',
  LANG: 'C.UTF-8',
  UNRELATED: 'unrelated-value',
  DATABASE_URL: 'postgres://tooldex:database-password@db/tooldex',
  TOOLDEX_API_KEY: 'own-api-key-value',
  TOOLDEX_SECRET_KEY: 'own-secret-key-value',
  TOOLDEX_ANYTHING: 'own-anything-value',
  API_TOKEN: 'caller-token-value',
}
const own = ['database-password', 'own-api-key-value', 'own-secret-key-value', 'own-anything-value']

const printer = () =>
  tempScript('print-env', '#!/usr/bin/python3\nimport json, os\nprint(json.dumps(dict(os.environ)))\n')
const declared = { API_TOKEN: '${API_TOKEN}', GREETING: 'hello', FALLBACK: '${NOT_SET:-fallback}' }
const seenOfDeclared = { API_TOKEN: '[redacted API_TOKEN]', GREETING: 'hello', FALLBACK: 'fallback' }
const base = { PATH: parent.PATH, HOME: parent.HOME, LANG: parent.LANG }

describe('fault 65d: what a tool sees of the environment', () => {
  const environment = async (
    scope: 'user' | 'service',
    containment: (typeof containments)[number],
    inheritEnv?: boolean | string[],
  ) => {
    const input = { command: printer(), env: declared, ...(inheritEnv === undefined ? {} : { inheritEnv }) }
    const { result } = await runTool(input, { scope, env: parent, containment: containment.containment })
    // The mark by which leftovers are found is a number nobody else can use, and the interpreter adds LC_CTYPE.
    const { TOOLDEX_RUN_ID: mark, LC_CTYPE, ...seen } = JSON.parse(result.stdout) as Record<string, string>
    expect(mark !== undefined).toBe(containment.kind === 'process-group')
    return seen
  }

  for (const containment of containments) {
    containment.it(
      `fault 65d (${containment.kind}): of a service it sees the base and what is declared, nothing else`,
      async () => {
        expect(await environment('service', containment)).toEqual({ ...base, ...seenOfDeclared })
        expect(await environment('service', containment, true)).toEqual({ ...base, ...seenOfDeclared })
        expect(await environment('service', containment, ['UNRELATED'])).toEqual({
          ...base,
          ...seenOfDeclared,
          UNRELATED: 'unrelated-value',
        })
      },
    )

    containment.it(
      `fault 65d (${containment.kind}): of a user it sees the user's own, less what is Tooldex's`,
      async () => {
        const all = { ...base, ...seenOfDeclared, UNRELATED: 'unrelated-value' }
        expect(await environment('user', containment)).toEqual(all)
        expect(await environment('user', containment, false)).toEqual({ ...base, ...seenOfDeclared })
        expect(await environment('user', containment, ['DATABASE_URL', 'TOOLDEX_API_KEY'])).toEqual({
          ...base,
          ...seenOfDeclared,
        })
      },
    )

    for (const scope of ['user', 'service'] as const) {
      containment.it(
        `fault 65d (${containment.kind}, ${scope}): /proc/*/environ of its whole tree has none of it either`,
        async () => {
          const seconds = uniqueSeconds()
          const command = tempScript('parent', `#!/bin/bash\nsleep ${seconds} &\nsleep ${seconds}\n`)
          const stop = new AbortController()
          const settings = {
            scope,
            env: parent,
            containment: containment.containment,
            controls: { signal: stop.signal },
          }
          const running = runTool({ command, env: declared }, settings)
          await expect.poll(() => findProcesses(`sleep ${seconds}`).length).toBe(2)
          const tree = descendantEnvironments(process.pid)
          stop.abort()
          const { status } = await running
          expect(status).toBe('CANCELLED')
          expect(tree.some(({ environment }) => environment.includes('GREETING=hello'))).toBe(true)
          for (const { environment } of tree) for (const secret of own) expect(environment).not.toContain(secret)
          expect(findProcesses(seconds)).toEqual([])
        },
      )
    }
  }
})

describe('fault 65d: a secret that a tool prints', () => {
  const secret = 'hush-hush-very-secret-value'
  const env = {
    API_TOKEN: secret,
    HIDDEN_TOKEN: `${secret}-and-more`,
    DATABASE_URL: 'postgres://x:database-password@db/x',
  }
  const leak = () => {
    const script =
      '#!/bin/bash\necho "token: $API_TOKEN"\necho "header: $HEADER, $LONGER" >&2\necho "$HIDDEN_TOKEN"\nexit ${1:-0}\n'
    const lines = [
      `command: ${tempScript('leak', script)}`,
      'env: {API_TOKEN: "${API_TOKEN}", HEADER: "Bearer ${HIDDEN_TOKEN}", LONGER: "${HIDDEN_TOKEN}"}',
      'tools: [{name: t, description: d}, {name: fails, description: d, command: "3"}]',
    ]
    return tempFile('leak.yaml', `${lines.join('\n')}\n`)
  }
  const expectClean = (text: string) => {
    expect(text).not.toContain(secret)
    expect(text).not.toContain('-and-more')
    expect(text).not.toContain('database-password')
  }

  it('fault 65d: is redacted on the command line, as text and as JSON, when it fails as well', async () => {
    const config = leak()
    for (const words of [['t'], ['--json', 't'], ['fails'], ['--json', 'fails']]) {
      const { stdout, stderr } = await runCli(['call', '-c', config, ...words], { env })
      expectClean(stdout + stderr)
      expect(stdout).toContain('token: [redacted API_TOKEN]')
      expect(stdout + stderr).toContain('header: Bearer [redacted HIDDEN_TOKEN], [redacted HIDDEN_TOKEN]')
    }
  })

  it.each(revisions)('fault 65d: is redacted in the MCP reply (%s) and in the log', async (revision) => {
    const log = join(tempFolder(), 'tooldex.log')
    const words = ['--log-level', 'DEBUG', leak()]
    const { client, stderr } = await connect(words, { revision, env: { ...env, TOOLDEX_LOG_FILE: log } })
    for (const name of ['t', 'fails']) {
      const reply = await client.callTool({ name: 'call_tool', arguments: { name } })
      expectClean(JSON.stringify(reply))
      expect(JSON.stringify(reply.content)).toContain('token: [redacted API_TOKEN]')
      expect(JSON.stringify(reply.structuredContent)).toContain('token: [redacted API_TOKEN]')
    }
    await expect.poll(() => readFileSync(log, 'utf8')).toContain('tools.call')
    expectClean(readFileSync(log, 'utf8'))
    expectClean(stderr())
    expect(statSync(log).mode & 0o077).toBe(0)
  })

  it('fault 65d: is redacted in a dry run', async () => {
    const tool = '{name: t, description: d}'
    const args = 'global_args: [{name: key, flag: --key, default: "${API_TOKEN}"}]'
    const text = `command: echo\nenv: {API_TOKEN: "\${API_TOKEN}"}\n${args}\ntools: [${tool}]\n`
    const { stdout } = await runCli(['call', '-c', tempFile('dry.yaml', text), '--dry-run', 't'], { env })
    expect(stdout).toContain('[redacted API_TOKEN]')
    expectClean(stdout)
  })
})

describe('fault 65e: a tool that fills the disk', () => {
  needs(process.platform === 'linux', 'needs prlimit')(
    'fault 65e: is stopped at --max-file; calls beside it run',
    async () => {
      const folder = tempFolder()
      const fill = `#!/usr/bin/env python3\nimport time\nwith open('${folder}/big', 'wb') as file:\n    for _ in range(50):\n        file.write(b'x' * 100_000)\n        file.flush()\n        time.sleep(0.01)\nprint('filled')\n`
      const lines = [
        `command: env`,
        `tools:`,
        `  - {name: fill, description: d, command: ${tempScript('fill', fill)}}`,
        `  - {name: small, description: d, command: dd if=/dev/zero of=${folder}/small bs=1000 count=1000}`,
        `  - {name: say, description: d, command: echo well}`,
      ]
      const { client } = await connect(['--max-file', '1MiB', tempFile('disk.yaml', `${lines.join('\n')}\n`)])
      const call = (name: string) => client.callTool({ name: 'call_tool', arguments: { name } })
      const [filled, ...others] = await Promise.all([call('fill'), call('say'), call('small'), call('say')])
      expect(filled.isError).toBe(true)
      expect(JSON.stringify(filled)).toMatch(/SIGXFSZ|File too large/)
      expect(JSON.stringify(filled)).not.toContain('filled')
      expect(statSync(join(folder, 'big')).size).toBeLessThanOrEqual(1024 * 1024)
      for (const other of others) expect(other.isError).not.toBe(true)
      expect(statSync(join(folder, 'small')).size).toBe(1_000_000)
      const next = await call('say')
      expect((next.structuredContent as { stdout: string }).stdout).toBe('well\n')
    },
  )
})

describe('fault 65f: zombies', () => {
  for (const { kind, containment, it } of containments)
    it(`fault 65f (${kind}, short form: 100 calls instead of 1000): ten for each call, none left`, async () => {
      await tryZombies(containment, 100)
    })
})
