import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { pick } from './random.ts'
import type { Site } from './site.ts'

const weights = { killServer: 3, killWorker: 4, stopWorker: 3, cutLines: 3, restartDatabase: 1 } as const
export type Fault = keyof typeof weights

/** What is done to the site; each is over, and whoever was killed is back, when it returns. */
const faults: Record<Fault, (site: Site, random: () => number) => Promise<void>> = {
  async killServer(site) {
    const [, mortal] = site.servers()
    mortal.signal('SIGKILL')
    await mortal.ended
    await site.restartServer()
  },
  async killWorker(site) {
    const [, mortal] = site.workers()
    mortal.kill('SIGKILL')
    await sleep(500)
    site.restartWorker()
  },
  async stopWorker(site) {
    // Longer than its lease: what it ran is lost to it when it wakes up.
    const [, mortal] = site.workers()
    mortal.kill('SIGSTOP')
    await sleep(6000)
    mortal.kill('SIGCONT')
  },
  async cutLines(site, random) {
    const sql = postgres(site.database, { max: 1, onnotice: () => {} })
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'tooldex' and hashtext(pid::text || ${String(random())}) % 2 = 0`.catch(() => {})
    await sql.end()
  },
  async restartDatabase(site, random) {
    await site.postgres.halt(pick(random, { fast: 1, immediate: 1, kill: 1 }))
    await sleep(500)
    await site.postgres.start()
  },
}

/** Does random things to the site, one at a time, and counts them. */
export async function breakUntil(
  site: Site,
  random: () => number,
  { until, everyMs }: { until: number; everyMs: number },
): Promise<Map<Fault, number>> {
  const done = new Map<Fault, number>()
  for (;;) {
    await sleep(Math.min(everyMs * (0.5 + random()), Math.max(0, until - Date.now())))
    if (Date.now() >= until) return done
    const fault = pick(random, weights)
    await faults[fault](site, random)
    done.set(fault, (done.get(fault) ?? 0) + 1)
  }
}
