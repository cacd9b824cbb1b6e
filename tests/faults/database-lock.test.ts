import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createStores, openDatabase } from '../../src/storage/index.ts'
import { lockFolder } from '../../src/storage/pglite/lock-folder.ts'
import { migratedHome } from '../support/migrated-database.ts'
import { runCli } from '../support/run-cli.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { waitUntil } from './database-traffic.ts'

const script = join(import.meta.dirname, '../support/write-embedded.mjs')

function startWriter(home: string): { child: ChildProcess; kept: () => string[] } {
  const child = spawn(process.execPath, [script], { env: { ...process.env, TOOLDEX_HOME: home } })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more
  })
  return { child, kept: () => text.split('\n').slice(0, -1) }
}

describe('faults: the lock of the embedded database', () => {
  it('refuses a second process by naming the first, and takes over from one that was killed, with all its rows', async () => {
    const home = tempFolder()
    const { child, kept } = startWriter(home)
    await waitUntil(() => kept().length > 5)
    const second = await runCli(['db', 'status', '--json'], { env: { TOOLDEX_HOME: home, DATABASE_URL: '' } })
    expect(second.code).toBe(75)
    expect(JSON.parse(second.stdout).error).toMatchObject({
      code: 'DATABASE_LOCKED',
      message: expect.stringContaining(`process ${child.pid}`),
    })
    child.kill('SIGKILL')
    await once(child, 'exit')
    const database = await openDatabase({ home })
    const stores = createStores(database)
    for (const name of kept()) expect(await stores.tools.get('default', name)).toMatchObject({ version: 1 })
    await database.close()
  })

  it('lets the second of two concurrent processes continue after the first', async () => {
    // Migrated, so that the first is done long before the second gives up.
    const env = { TOOLDEX_HOME: migratedHome(), DATABASE_URL: '' }
    const both = await Promise.all([runCli(['db', 'migrate'], { env }), runCli(['db', 'migrate'], { env })])
    expect(both.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, expect.not.stringContaining('in use')],
      [0, expect.not.stringContaining('in use')],
    ])
  })

  it('takes over stale locks, and releases only its own', () => {
    const folder = tempFolder()
    for (const text of ['', 'nonsense', `${process.pid} 1`, '999999999 1']) {
      writeFileSync(join(folder, 'lock'), text)
      const unlock = lockFolder(folder)
      expect(() => lockFolder(folder)).toThrow(`process ${process.pid}`)
      unlock()
    }
    lockFolder(folder)()
  })
})
