import { createHash } from 'node:crypto'

// Clients add a prefix to the name of a tool, and several reject more than 64 characters in all.
const maxLength = 50

/** The name of a tool in clients: its own where all clients accept it, otherwise a short one that is always the same. */
export function toClientName(name: string): string {
  if (isClientName(name)) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const readable = name.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, maxLength - hash.length - 1)
  return `${readable}_${hash}`
}

/** Whether all clients accept a name. */
export const isClientName = (name: string): boolean => /^[A-Za-z0-9_-]+$/.test(name) && name.length <= maxLength
