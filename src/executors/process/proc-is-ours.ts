import { readlinkSync } from 'node:fs'

/**
 * Whether /proc numbers processes as we do. In a PID namespace that was given no /proc of its own, as a call of ours is,
 * it does not, and what is read there is about other processes than the ones we would signal.
 */
export function procIsOurs(): boolean {
  try {
    return readlinkSync('/proc/self') === String(process.pid)
  } catch {
    return false
  }
}
