import { Monitor, Moon, Sun } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { setTheme, type Theme, useTheme } from './theme.ts'

const order: readonly Theme[] = ['system', 'light', 'dark']
const icons = { system: Monitor, light: Sun, dark: Moon } as const

/** Switches between the theme of the system, light and dark. */
export function ThemeButton() {
  const theme = useTheme()
  const next = order[(order.indexOf(theme) + 1) % order.length] ?? 'system'
  const Icon = icons[theme]
  return (
    <Button
      tone="quiet"
      size="sm"
      className="w-7 px-0!"
      aria-label={`Theme: ${theme}. Switch to ${next}`}
      title={`Theme: ${theme}`}
      icon={<Icon className="size-4" aria-hidden />}
      onClick={() => setTheme(next)}
    />
  )
}
