import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/** A number of seconds that no other process sleeps: what is left of a test is found by it. */
export const uniqueSeconds = (): string => `6${randomInt(10)}.${randomInt(100_000_000, 999_999_999)}`

const pids = (): readonly number[] => readdirSync('/proc').map(Number).filter(Number.isInteger)

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

/** The command lines of the processes that have this text in theirs. */
export const findProcesses = (text: string): readonly string[] =>
  pids()
    .map(commandOf)
    .filter((line) => line.includes(text))

/** The processes that have these texts in their command line. */
export const pidsOf = (...texts: readonly string[]): readonly number[] =>
  pids().filter((pid) => pid !== process.pid && texts.every((text) => commandOf(pid).includes(text)))

/** Kills processes, of which some may end meanwhile; returns their number. */
export function killProcesses(all: readonly number[]): number {
  for (const pid of all) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
  return all.length
}

/** The length of what two looks in a row both see: a look takes a while, in which processes end and others start. */
function countInBoth(look: () => readonly number[]): number {
  const before = new Set(look())
  return look().filter((pid) => before.has(pid)).length
}

/** How many processes with this text in their command line run at the same moment. */
export const countProcesses = (text: string): number =>
  countInBoth(() => pids().filter((pid) => read(pid, 'cmdline').replaceAll('\0', ' ').includes(text)))

/** How many descendants of a process run at the same moment. */
export const countDescendants = (ancestor: number): number => countInBoth(() => descendantsOf(ancestor))

/** Descendants of a process that ended and were not reaped. */
export const countZombies = (ancestor: number): number =>
  descendantsOf(ancestor).filter((pid) => stat(pid)[0] === 'Z').length

/** State and parent of a process; what is before them, its name, may hold anything. */
function stat(pid: number): readonly string[] {
  return read(pid, 'stat').split(') ').at(-1)?.split(' ') ?? []
}

/** The processes that a process started and that are still there. */
export const childrenOf = (parent: number): readonly number[] => pids().filter((pid) => Number(stat(pid)[1]) === parent)

/** The words of a process. */
export const commandOf = (pid: number): string => read(pid, 'cmdline').replaceAll('\0', ' ').trim()

/** All processes that descend from one, with the environment each was started with. */
export const descendantEnvironments = (ancestor: number): readonly { pid: number; environment: string }[] =>
  descendantsOf(ancestor).map((pid) => ({ pid, environment: read(pid, 'environ') }))

function descendantsOf(ancestor: number): readonly number[] {
  const parents = new Map(pids().map((pid) => [pid, Number(stat(pid)[1])]))
  const descends = (pid: number): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && (parent === ancestor || (parent > 0 && descends(parent)))
  }
  return [...parents.keys()].filter(descends)
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number | 'self' = 'self'): number {
  const [, kib = '0'] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

/** The largest value a measure takes until the work is done. */
export async function peakDuring<T>(measure: () => number, work: () => Promise<T>): Promise<[T, number]> {
  let peak = measure()
  const timer = setInterval(() => {
    peak = Math.max(peak, measure())
  }, 10)
  try {
    return [await work(), peak]
  } finally {
    clearInterval(timer)
  }
}
