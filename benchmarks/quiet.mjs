// Waits for moments in which the machine does nothing else, so that neighbours are not measured.
import { readFileSync } from 'node:fs'

const lookMs = 40
const idleShare = 0.8

/** Resolves when all cores were idle for a moment, or when patience is over; says whether it was quiet. */
export async function whenQuiet(patienceMs) {
  for (const end = performance.now() + patienceMs; performance.now() < end; ) {
    const before = readTimes()
    await new Promise((resolve) => setTimeout(resolve, lookMs))
    const after = readTimes()
    if (after.idle - before.idle >= idleShare * (after.all - before.all)) return true
  }
  return false
}

function readTimes() {
  const [, ...times] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].trim().split(/\s+/).map(Number)
  return { idle: times[3] + times[4], all: times.slice(0, 8).reduce((sum, time) => sum + time, 0) }
}
