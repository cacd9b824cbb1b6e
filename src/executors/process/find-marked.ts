import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { procIsOurs } from './proc-is-ours.ts'

/** The processes with a mark in their initial environment: all descendants of a call, detached ones included. */
export function findMarked(mark: string, firstPid: number): readonly number[] {
  return process.platform === 'linux' ? findInProc(mark, firstPid) : findWithPs(mark)
}

function findInProc(mark: string, firstPid: number): readonly number[] {
  if (!procIsOurs()) return []
  const last = lastPid()
  // No process was started since, so there are no descendants.
  if (last === firstPid) return []
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  // Descendants have higher pids, unless the pids wrapped around.
  const candidates = last < firstPid ? pids : pids.filter((pid) => pid > firstPid)
  return candidates.filter((pid) => pid !== process.pid && environOf(pid).includes(`${mark}\0`))
}

function lastPid(): number {
  return Number(readFileSync('/proc/loadavg', 'utf8').trim().split(' ').at(-1))
}

function environOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

function findWithPs(mark: string): readonly number[] {
  const { stdout } = spawnSync('ps', ['-Eww', '-axo', 'pid=,command='], {
    encoding: 'utf8',
    timeout: 2000,
    env: { PATH: process.env.PATH },
  })
  const lines = (stdout ?? '').split('\n').filter((line) => line.includes(mark))
  return lines.map((line) => Number.parseInt(line, 10)).filter((pid) => Number.isInteger(pid) && pid !== process.pid)
}
