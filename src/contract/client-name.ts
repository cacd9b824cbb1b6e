import { createHash } from 'node:crypto'

// Clients put a prefix of their own before a tool's name, and several refuse more than 64 characters in all.
const longest = 50

/** The name a tool goes by in clients: its own where they all accept it, else a short one that is always the same. */
export function toClientName(name: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(name) && name.length <= longest) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const readable = name.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, longest - hash.length - 1)
  return `${readable}_${hash}`
}
