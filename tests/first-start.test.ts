import { afterAll, describe, expect, it } from 'vitest'
import { startPlainServer } from './support/start-plain-server.ts'
import { lastingFolder } from './support/temp-folder.ts'

describe('the key in the output of a starting server', () => {
  const home = lastingFolder()
  const chosen = lastingFolder()
  const stops: (() => Promise<void>)[] = []
  afterAll(async () => void (await Promise.all(stops.map((stop) => stop()))))

  /** What it says, after it has stopped. */
  async function linesOf(folder: string, key: string): Promise<readonly string[]> {
    const server = await startPlainServer({ TOOLDEX_HOME: folder, TOOLDEX_API_KEY: key, DATABASE_URL: '' })
    stops.push(server.stop)
    const status = key === '' ? undefined : (await ask(server.url, key)).status
    await server.stop()
    const lines = server
      .said()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('database:'))
    return status === undefined ? lines : [String(status), ...lines]
  }
  const ask = (url: string, key: string) =>
    fetch(`${url}/api/v1/keys/current`, { headers: { authorization: `Bearer ${key}` } })
  let key = ''

  it('shows the key of the first start once, in a line and in a link', async () => {
    const lines = await linesOf(home, '')
    key = /^admin key \(shown only once\): (\S+)$/.exec(lines[1] ?? '')?.[1] ?? ''
    expect(key).toMatch(/^tdx_/)
    expect(lines[2]).toMatch(new RegExp(`^log in at http://127.0.0.1:\\d+/#key=${key}$`))
    expect(lines[4]).toContain(`export TOOLDEX_API_KEY=${key};`)
    const again = await linesOf(home, '')
    expect(again.join('\n')).not.toContain(key.slice(0, 12))
    expect(again[1]).toContain('the admin key printed at the first start')
    expect(again[2]).toMatch(/^console at http:\S+, API documentation at http:\S+\/docs$/)
  })

  it('takes the key of the environment as the first one, and never prints it', async () => {
    const secret = 'chosen+by/hand=0123456789'
    const first = await linesOf(chosen, secret)
    expect([first[0], first[2]]).toEqual(['200', 'key: the value of TOOLDEX_API_KEY'])
    expect(first.join('\n')).not.toContain(secret)
    expect(first[5]).toMatch(/^next: \S/)
    expect(first[5]).not.toContain('export TOOLDEX_API_KEY')
  })

  it('refuses a key that is soon guessed, before there is anything', async () => {
    const started = linesOf(lastingFolder(), 'short')
    await expect(started).rejects.toThrow(
      /TOOLDEX_API_KEY is too short for the admin key: it has fewer than 16 characters/,
    )
  })

  it('does not confirm a wrong key', async () => {
    const [status, , said] = await linesOf(home, 'tdx_not_the_right_one')
    expect(status).toBe('401')
    expect(said).toContain('the admin key printed at the first start')
    expect((await linesOf(home, key))[2]).toBe('key: the value of TOOLDEX_API_KEY')
  })
})
