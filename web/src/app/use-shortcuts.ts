import { useEffect } from 'react'

interface Shortcuts {
  readonly onPalette: () => void
}

const fields = new Set(['INPUT', 'TEXTAREA', 'SELECT'])

/** Ctrl or Cmd and K open the command palette; `/` focuses the search of the page, or opens the palette where there is none. */
export function useShortcuts({ onPalette }: Shortcuts): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        return onPalette()
      }
      const target = event.target as HTMLElement
      if (event.key !== '/' || fields.has(target.tagName) || target.isContentEditable) return
      event.preventDefault()
      const search = document.querySelector<HTMLInputElement>('main input[type="search"]')
      if (search === null) onPalette()
      else search.focus()
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [onPalette])
}
