import { Outlet } from '@tanstack/react-router'
import { Menu, Search } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Toasts } from '../ui/toast.tsx'
import { Account } from './account.tsx'
import { CommandPalette } from './command-palette.tsx'
import { ConnectionBar } from './connection-bar.tsx'
import { SessionBar } from './session-bar.tsx'
import { Sidebar } from './sidebar.tsx'
import { ThemeButton } from './theme-button.tsx'
import { useShortcuts } from './use-shortcuts.ts'

/** The frame of all pages: sidebar, top bar, command palette, toasts. */
export function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  useShortcuts({ onPalette: () => setPaletteOpen((open) => !open) })
  return (
    <div className="flex min-h-dvh">
      <a
        href="#content"
        className="sr-only rounded-md bg-raised p-2 focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50"
      >
        Skip to the content
      </a>
      <aside className="sticky top-0 h-dvh w-56 shrink-0 border-r border-line bg-surface max-lg:hidden">
        <Sidebar />
      </aside>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-surface/95 px-3 backdrop-blur sm:px-4">
          <MenuDrawer isOpen={isMenuOpen} setOpen={setMenuOpen} />
          <button
            type="button"
            onClick={() => setPaletteOpen(true)}
            className="flex h-8 w-full max-w-md min-w-0 items-center gap-2 rounded-md border border-line bg-sunken px-2.5 text-sm text-muted hover:border-line-strong"
          >
            <Search className="size-4 shrink-0" aria-hidden />
            <span className="truncate">Search tools and pages</span>
            <kbd className="ml-auto rounded border border-line bg-surface px-1.5 font-mono text-xs max-sm:hidden">
              Ctrl K
            </kbd>
          </button>
          <div className="ml-auto flex items-center gap-1">
            <ThemeButton />
            <Account />
          </div>
        </header>
        <ConnectionBar />
        <SessionBar />
        <main id="content" tabIndex={-1} className="min-w-0 flex-1 outline-none">
          <Outlet />
        </main>
      </div>
      <CommandPalette isOpen={isPaletteOpen} onClose={() => setPaletteOpen(false)} />
      <Toasts />
    </div>
  )
}

interface MenuDrawerProps {
  readonly isOpen: boolean
  readonly setOpen: (open: boolean) => void
}

function MenuDrawer({ isOpen, setOpen }: MenuDrawerProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger asChild>
        <Button
          tone="quiet"
          size="sm"
          className="w-7 px-0! lg:hidden"
          aria-label="Open the menu"
          icon={<Menu className="size-4" aria-hidden />}
        />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-y-0 left-0 z-50 w-64 border-r border-line bg-surface shadow-float outline-none"
        >
          <Dialog.Title className="sr-only">Menu</Dialog.Title>
          <Sidebar onNavigate={() => setOpen(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
