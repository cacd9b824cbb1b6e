const prefix = 'tooldex-draft:'

/** Stores a draft in this browser; false if it is too large for it. */
export function keepDraft(name: string, draft: object): boolean {
  try {
    localStorage.setItem(prefix + name, JSON.stringify(draft))
    return true
  } catch {
    return false
  }
}

/** The stored draft of this name. */
export function findDraft(name: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(prefix + name) ?? 'null')
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

export const dropDraft = (name: string): void => localStorage.removeItem(prefix + name)

/** Drops all drafts, because the next user of this browser may be another person. */
export function dropAllDrafts(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key)
}
