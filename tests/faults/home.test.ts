import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/storage/index.ts'
import { reportError } from '../../src/surfaces/cli/report-error.ts'
import { createRestApp } from '../../src/surfaces/rest/create-app.ts'
import { needs } from '../support/needs.ts'
import { openRegistry } from '../support/open-registry.ts'
import { runCli } from '../support/run-cli.ts'
import { freePort } from '../support/start-postgres.ts'
import { tempFile, tempFolder } from '../support/temp-folder.ts'

const isRoot = process.geteuid?.() === 0
const open = (home: string) => openDatabase({ home }).then((database) => database.close())

/** A small file system of its own, where the system allows one. */
function tryMount(options: string): string | undefined {
  const folder = tempFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]))
  return folder
}

/** A folder that nothing can be written to: read-only for root, without the right to write for others. */
function readOnlyFolder(): string | undefined {
  if (isRoot) return tryMount('ro,size=1m')
  const folder = tempFolder()
  chmodSync(folder, 0o500)
  return folder
}

describe('a home that cannot be used', () => {
  it('is a file', async () => {
    const home = tempFile('home', '')
    await expect(open(home)).rejects.toMatchObject({
      code: 'HOME_UNUSABLE',
      message: expect.stringContaining(`${home}/db`),
      hint: expect.stringContaining('TOOLDEX_HOME'),
    })
    const { code, stderr } = await runCli(['serve', '--port', '0'], { env: { TOOLDEX_HOME: home, DATABASE_URL: '' } })
    expect([code, stderr]).toEqual([78, expect.stringMatching(/cannot be written: .*\(ENOTDIR\)/)])
  })

  it('cannot be entered, which is not the same as absent', () => {
    const home = tempFolder()
    mkdirSync(join(home, 'db', 'data'), { recursive: true })
    const program = (env: object) => `
      const { findServer, registryExists } = await import(${JSON.stringify(new URL('../../dist/operations/registry-client/find-server.js', import.meta.url).href)})
      if (process.geteuid() === 0) process.seteuid(65534)
      for (const find of [() => findServer(undefined, ${JSON.stringify(env)}), () => registryExists(${JSON.stringify(env)})])
        try { console.log(find()) } catch ({ code, message }) { console.log(code, message) }`
    const linesOf = (env: object) =>
      execFileSync(process.execPath, ['--input-type=module', '-e', program(env)], { encoding: 'utf8' }).split('\n')
    chmodSync(home, 0o000)
    onTestFinished(() => chmodSync(home, 0o700))
    const unusable = expect.stringMatching(/^HOME_UNUSABLE .* cannot be read: permission denied \(EACCES\)\.$/)
    expect(linesOf({ TOOLDEX_HOME: home })).toEqual([unusable, unusable, ''])
    const url = 'postgres://127.0.0.1/tools'
    expect(linesOf({ TOOLDEX_HOME: home, DATABASE_URL: url })).toEqual(['undefined', 'true', ''])
    expect(linesOf({ TOOLDEX_HOME: '/nonexistent/home' })).toEqual(['undefined', 'false', ''])
  })

  it('is read-only', async ({ skip }) => {
    const home = readOnlyFolder()
    if (home === undefined) return skip('mounting a tmpfs needs root')
    await expect(open(home)).rejects.toMatchObject({
      code: 'HOME_UNUSABLE',
      message: expect.stringMatching(/read-only|permission denied/),
    })
    const call = await runCli(['call', 'coreutils_echo', 'hello'], { env: { TOOLDEX_HOME: home, DATABASE_URL: '' } })
    expect([call.code, call.stdout]).toEqual([0, 'hello\n'])
  })

  needs(isRoot, 'mounting a tmpfs needs root')(
    'is on a full disk, before and after its database was made',
    async () => {
      const home = tryMount('size=60m') as string
      const ballast = join(home, 'ballast')
      const fill = () => expect(() => writeFileSync(ballast, Buffer.alloc(64 << 20))).toThrow('ENOSPC')
      const full = { code: 'DISK_FULL', hint: 'Free space on the disk, then try again.' }
      fill()
      await expect(open(home)).rejects.toMatchObject(full)
      rmSync(ballast)
      await open(home)
      fill()
      await expect(open(home)).rejects.toMatchObject(full)
    },
  )

  it('has a damaged database, which is kept', async () => {
    const home = join(tempFolder(), 'deep', 'home')
    const data = join(home, 'db', 'data')
    await open(home)
    // Fresh, it is open to its owner only.
    for (const folder of [home, join(home, 'db')]) expect(statSync(folder).mode & 0o777).toBe(0o700)
    const control = join(data, 'global', 'pg_control')
    writeFileSync(control, 'damaged')
    await expect(open(home)).rejects.toMatchObject({
      code: 'DATABASE_DAMAGED',
      message: expect.stringContaining(data),
      hint: expect.stringContaining('tooldex db import'),
    })
    expect(statSync(control).size).toBe(7)
  })
})

describe('a PostgreSQL server that cannot be reached', () => {
  it('is named with host and port by commands, servers and workers', async () => {
    const port = await freePort()
    const env = { DATABASE_URL: `postgres://user:hidden@127.0.0.1:${port}/tools`, TOOLDEX_HOME: tempFolder() }
    for (const words of [['tools', 'list'], ['serve', '--port', '0'], ['worker']]) {
      const { code, stderr } = await runCli(words, { env: { ...env, TOOLDEX_URL: '' } })
      expect([code, stderr]).toEqual([
        75,
        expect.stringContaining(`PostgreSQL at 127.0.0.1:${port}/tools does not answer: connection refused.`),
      ])
      expect(stderr).not.toContain('hidden')
    }
  })
})

describe('an address of the database with another server', () => {
  it('is named as such', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const env = { DATABASE_URL: `postgres://127.0.0.1:${port}/x`, TOOLDEX_HOME: tempFolder(), TOOLDEX_URL: '' }
    const { code, stderr } = await runCli(['tools', 'list'], { env })
    expect([code, stderr]).toEqual([75, expect.stringContaining('is not PostgreSQL')])
    expect(stderr).toContain('Correct host and port in DATABASE_URL.')
  })
})

describe('an internal error', () => {
  it('has an id that the log has, over HTTP and on the command line', async () => {
    const { context, close } = await openRegistry()
    onTestFinished(close)
    const lines: string[] = []
    const logger = {
      ...context.logger,
      error: (text: string, fields = {}) => lines.push(text + JSON.stringify(fields)),
    }
    const app = createRestApp({
      context: { ...context, logger: logger as never },
      ready: () => Promise.reject(new Error('the inner reason')),
      memoryOf: () => context.memory,
      catalogOf: async () => context.catalog,
    })
    const answer = await app.request('/readyz')
    const body = (await answer.json()) as { id: string; detail: string; code: string }
    expect([answer.status, body.code, body.detail]).toEqual([500, 'INTERNAL', `Internal error ${body.id}.`])
    expect(JSON.stringify(body)).not.toContain('inner reason')
    expect(lines.join('\n')).toMatch(new RegExp(`the inner reason.*"id":"${body.id}"`, 's'))
    let printed = ''
    const host = {
      err(text: string) {
        printed += text
      },
    }
    expect(reportError(new Error('another reason'), host as never, { json: false })).toBe(70)
    const [, id] = /Internal error ([0-9a-f]{8})\./.exec(printed) ?? []
    expect(printed).toMatch(new RegExp(`ERROR .*another reason.* id="${id}"`))
    expect(printed).not.toContain('our fault')
  })
})
