import { readlinkSync } from 'node:fs'

/**
 * Whether /proc belongs to the PID namespace of this process. In a PID namespace without a /proc of its own, such as that of
 * a call, its pids denote other processes than the ones that a signal would reach.
 */
export function procIsOurs(): boolean {
  try {
    return readlinkSync('/proc/self') === String(process.pid)
  } catch {
    return false
  }
}
