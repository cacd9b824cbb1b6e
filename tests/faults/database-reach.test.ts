import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Database, openDatabase, waitForDatabase } from '../../src/storage/index.ts'
import { needs } from '../support/needs.ts'
import { runCli } from '../support/run-cli.ts'
import { freePort, startPostgres, type TestPostgres } from '../support/start-postgres.ts'

let cluster: TestPostgres
let folder: string
let url: string
const file = (name: string) => join(folder, name)
const at = (hosts: string, query = '') => url.replace(/@[^/]*/, `@${hosts}`) + query

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tooldex-reach-'))
  cluster = await startPostgres({ folder, flags: ['-c', `unix_socket_directories=${folder}`] })
  url = await cluster.createDatabase()
})
afterAll(() => cluster?.stop())

async function open(address: string): Promise<Database> {
  const database = await openDatabase({ url: address })
  onTestFinished(() => database.close())
  return database
}

/** How the connection looks from the server. */
async function look(address: string): Promise<{ ssl: boolean; local: boolean }> {
  const { db } = await open(address)
  const [row] = (await db.execute(
    sql`select ssl, inet_client_addr() is null as local from pg_stat_ssl where pid = pg_backend_pid()`,
  )) as unknown as [{ ssl: boolean; local: boolean }]
  return { ...row }
}

const refusal = async (address: string): Promise<string> => {
  const thrown = await waitForDatabase(await open(address), { ms: 60_000 }).then(
    () => new Error('it answered'),
    (error: Error) => error,
  )
  return thrown.message
}

describe('a server on a socket of this machine', () => {
  it('is found by host=/folder, by an encoded host, and by several hosts', async () => {
    const { port } = cluster
    const addresses = [
      at('', `?host=${folder}&port=${port}`),
      at(`:${port}`, `?host=${folder}`),
      at(`${encodeURIComponent(folder)}:${port}`),
      at(`127.0.0.1:${await freePort()},${encodeURIComponent(folder)}:${port}`),
    ]
    for (const address of addresses) expect(await look(address), address).toEqual({ ssl: false, local: true })
  })

  it('needs no TLS, whatever the URL requires of other connections', async () => {
    const address = at('', `?host=${folder}&port=${cluster.port}&sslmode=verify-full`)
    expect(await look(address)).toEqual({ ssl: false, local: true })
  })

  it('serves commands', async () => {
    const env = { DATABASE_URL: at('', `?host=${folder}&port=${cluster.port}`) }
    expect((await runCli(['db', 'migrate'], { env })).code).toBe(0)
    const { code, stdout } = await runCli(['db', 'status', '--json'], { env })
    expect([code, JSON.parse(stdout).engine]).toEqual([0, 'postgres'])
  })
})

describe('closing', () => {
  it('leaves no connection behind, not even one that was just being made', async () => {
    const admin = postgres(url, { max: 1 })
    onTestFinished(() => admin.end())
    for (let round = 0; round < 10; round++) {
      const database = await openDatabase({ url })
      const stop = await database.listen('nothing', () => {})
      await database.db.execute(sql`select 1`)
      void stop().catch(() => {})
      if (round % 2 === 1) await new Promise((resolve) => setImmediate(resolve))
      await database.close()
    }
    const left = () => admin`select pid from pg_stat_activity where application_name = 'tooldex'`
    await expect.poll(left).toHaveLength(0)
  })
})

describe('several hosts', () => {
  it('the first that answers is used, for every connection', async () => {
    const { db } = await open(at(`127.0.0.1:${await freePort()},127.0.0.1:${cluster.port}`))
    const asked = Array.from({ length: 30 }, () => db.execute(sql`select pg_sleep(0.02)`))
    await expect(Promise.all(asked)).resolves.toHaveLength(30)
  })

  it('another is never used while the first responds', async () => {
    const second = await startPostgres()
    onTestFinished(() => second.stop())
    await second.createDatabase()
    const { db } = await open(at(`127.0.0.1:${cluster.port},127.0.0.1:${second.port}`))
    const ports = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const [row] = (await db.execute(sql`select inet_server_port() as port, pg_sleep(0.05)`)) as unknown as [
          { port: number },
        ]
        return row.port
      }),
    )
    expect(new Set(ports)).toEqual(new Set([cluster.port]))
  })

  it('a server without the requested attributes is skipped', async () => {
    const second = await startPostgres({ flags: ['-c', 'default_transaction_read_only=on'] })
    onTestFinished(() => second.stop())
    const hosts = `127.0.0.1:${second.port},127.0.0.1:${cluster.port}`
    const address = `postgres://postgres:postgres@${hosts}/postgres?target_session_attrs=read-write`
    const { db } = await open(address)
    const ask = () => db.execute(sql`select inet_server_port() as port, pg_sleep(0.05)`)
    for (const [row] of (await Promise.all(Array.from({ length: 15 }, ask))) as unknown as [{ port: number }][])
      expect(row.port).toBe(cluster.port)
  })

  it('an error names all hosts where none responds', async () => {
    const hosts = `127.0.0.1:${await freePort()},127.0.0.1:${await freePort()}`
    const { db } = await open(at(hosts))
    await expect(db.execute(sql`select 1`)).rejects.toThrow()
    const { code, stderr } = await runCli(['db', 'status'], { env: { DATABASE_URL: at('127.0.0.1:1,127.0.0.1:2') } })
    expect([code, stderr]).toEqual([75, expect.stringContaining('127.0.0.1:1,127.0.0.1:2')])
  })
})

const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'])
    return true
  } catch {
    return false
  }
})()
const itSecured = needs(hasOpenssl, 'there is no openssl to make certificates with')

describe('TLS', () => {
  beforeAll(async () => {
    if (hasOpenssl) await secureServer()
  })

  itSecured('a connection is encrypted where the URL requires it', async () => {
    const { port } = cluster
    expect(await look(at(`127.0.0.1:${port}`))).toMatchObject({ ssl: false })
    expect(await look(at(`127.0.0.1:${port}`, '?sslmode=disable'))).toMatchObject({ ssl: false })
    for (const mode of ['prefer', 'require'])
      expect(await look(at(`127.0.0.1:${port}`, `?sslmode=${mode}`)), mode).toMatchObject({ ssl: true })
  })

  itSecured('a certificate of the authority named is trusted, for its host', async () => {
    const { port } = cluster
    const root = `&sslrootcert=${encodeURIComponent(file('ca.crt'))}`
    for (const mode of ['require', 'verify-ca'])
      expect(await look(at(`127.0.0.1:${port}`, `?sslmode=${mode}${root}`)), mode).toMatchObject({ ssl: true })
    expect(await look(at(`localhost:${port}`, `?sslmode=verify-full${root}`))).toMatchObject({ ssl: true })
    expect(await refusal(at(`127.0.0.1:${port}`, `?sslmode=verify-full${root}`))).toMatch(/over TLS: .*127\.0\.0\.1/)
  })

  itSecured('a certificate of another authority is rejected, with the reason', async () => {
    const { port } = cluster
    const other = `&sslrootcert=${encodeURIComponent(file('other.crt'))}`
    for (const query of [`verify-full${other}`, `verify-ca${other}`, `require${other}`, 'verify-full', 'verify-ca'])
      expect(await refusal(at(`localhost:${port}`, `?sslmode=${query}`)), query).toMatch(/over TLS: .*certificate/)
    const { code, stderr } = await runCli(['db', 'status'], {
      env: { DATABASE_URL: at(`localhost:${port}`, `?sslmode=verify-full${other}`) },
    })
    expect([code, stderr]).toEqual([75, expect.stringMatching(/over TLS[\s\S]*DATABASE_URL/)])
    expect(stderr).not.toContain('postgres:postgres')
  })

  itSecured('a server without TLS is refused where it is required, and used where it is preferred', async () => {
    const plain = await startPostgres()
    onTestFinished(() => plain.stop())
    const address = await plain.createDatabase()
    expect(await refusal(`${address}?sslmode=require`)).toMatch(/does not offer TLS/)
    expect(await look(`${address}?sslmode=prefer`)).toMatchObject({ ssl: false })
  })
})

/** Gives the server a certificate for `localhost` by an authority of its own; `other.crt` is another authority. */
async function secureServer(): Promise<void> {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  for (const name of ['ca', 'other'])
    openssl('req', '-x509', ...key, '-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=${name}`)
  openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost')
  writeFileSync(file('names'), 'subjectAltName=DNS:localhost')
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names']
  openssl('x509', '-req', '-in', 'server.csr', ...signed, '-out', 'server.crt')
  const { uid, gid } = statSync(file('data'))
  chmodSync(file('server.key'), 0o600)
  chownSync(file('server.key'), uid, gid)
  const admin = postgres(url, { max: 1 })
  await admin.unsafe(`alter system set ssl_cert_file = '${file('server.crt')}'`)
  await admin.unsafe(`alter system set ssl_key_file = '${file('server.key')}'`)
  await admin.unsafe('alter system set ssl = on')
  await admin.end()
  await cluster.halt('fast')
  await cluster.start()
}
