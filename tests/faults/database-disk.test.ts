import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { createStores, migrate, openDatabase } from '../../src/storage/index.ts'
import { newTool } from '../../src/storage/stores.suite.ts'
import { needs } from '../support/needs.ts'
import { startPostgres } from '../support/start-postgres.ts'
import { caller, timed, waitUntil } from './database-traffic.ts'

const folder = mkdtempSync(join(tmpdir(), 'tooldex-full-'))
const mounted = process.geteuid?.() === 0 && mount()

function mount(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=120m', 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Takes the room that is left. */
function fill(file: string): void {
  for (const size of [1 << 20, 1 << 12]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size))
    } catch {
      // Full.
    }
  }
}

describe('faults: a full disk', () => {
  needs(mounted, 'mounting a tmpfs needs root')(
    '84: the disk of the server is full: UNAVAILABLE, works when there is room again, no half version',
    async () => {
      onTestFinished(() => {
        execFileSync('umount', ['-l', folder])
        rmSync(folder, { recursive: true, force: true })
      })
      const server = await startPostgres({
        folder,
        initdbFlags: ['--wal-segsize=1'],
        flags: ['-c', 'min_wal_size=2MB', '-c', 'max_wal_size=8MB', '-c', 'wal_recycle=off'],
      })
      const database = await openDatabase({ url: await server.createDatabase() })
      await migrate(database)
      const stores = createStores(database)
      const tool = await stores.tools.create(caller, newTool())
      const change = (at: number) =>
        timed(
          stores.tools.change(
            caller,
            tool.id,
            ({ id: _, status: _s, version: _v, createdAt: _c, updatedAt: _u, ...content }) => ({
              ...content,
              notes: Array.from({ length: 20_000 }, () => Math.random().toString(36)).join('') + at,
            }),
          ),
        )
      const ballast = join(folder, 'ballast')
      fill(ballast)
      const codes: string[] = []
      for (let at = 0; at < 40 && codes.filter((code) => code !== 'ok').length < 4; at++)
        codes.push((await change(at)).code)
      expect(codes).toContain('UNAVAILABLE')
      expect(codes.filter((code) => code !== 'ok' && code !== 'UNAVAILABLE')).toEqual([])
      rmSync(ballast)
      // Without room for its log the server ends itself; its operator starts it again.
      await waitUntil(async () => {
        if (!server.isRunning()) await server.start()
        return (await change(99)).code === 'ok'
      })
      const now = await stores.tools.get('default', tool.id)
      const { items } = await stores.tools.versions('default', tool.id, { limit: 100 })
      expect(items.map(({ version }) => version)).toEqual(
        Array.from({ length: now?.version ?? 0 }, (_, at) => (now?.version ?? 0) - at),
      )
      expect(items.filter(({ isLatest }) => isLatest)).toHaveLength(1)
      expect(items[0]?.content.notes).toBe(now?.notes)
      await database.close()
      await server.halt('immediate')
    },
  )
})
