import { useSyncExternalStore } from 'react'

/** The theme that a person chose: one of the two, or that of the system. */
export type Theme = 'system' | 'light' | 'dark'

const slot = 'tooldex-theme'
const system = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

const read = (): Theme => {
  const stored = localStorage.getItem(slot)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

function apply(): void {
  const theme = read()
  document.documentElement.classList.toggle('dark', theme === 'dark' || (theme === 'system' && system.matches))
  for (const listener of listeners) listener()
}

system.addEventListener('change', apply)

/** Chooses the theme; it is remembered in this browser. */
export function setTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(slot)
  else localStorage.setItem(slot, theme)
  apply()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The chosen theme. */
export const useTheme = (): Theme => useSyncExternalStore(subscribe, read)
