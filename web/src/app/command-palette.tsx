import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type LucideIcon, Palette, Plus, Wrench } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { type KeyboardEvent, useState } from 'react'
import { api } from '../api/client.ts'
import { useCaller } from '../api/session.ts'
import { cx } from '../ui/cx.ts'
import { SafeText } from '../ui/safe-text.tsx'
import { navigation } from './navigation.ts'
import { setTheme } from './theme.ts'

interface Command {
  readonly id: string
  readonly label: string
  readonly detail?: string
  readonly words: string
  readonly icon: LucideIcon
  readonly run: () => void
}

interface PaletteProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

const maxTools = 8

/** Finds pages, actions and tools by typing. */
export function CommandPalette({ isOpen, onClose }: PaletteProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-[12vh] left-1/2 z-50 w-[min(38rem,calc(100vw-1.5rem))] -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-raised shadow-float outline-none"
        >
          <Dialog.Title className="sr-only">Command palette</Dialog.Title>
          <Choices onClose={onClose} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Choices({ onClose }: { readonly onClose: () => void }) {
  const [query, setQuery] = useState('')
  const [selected, setSelected] = useState(0)
  const commands = useCommands(query.trim(), onClose)
  const current = Math.min(selected, commands.length - 1)
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setSelected((current + step + commands.length) % Math.max(commands.length, 1))
    }
    if (event.key === 'Enter') commands[current]?.run()
  }
  return (
    <>
      <input
        role="combobox"
        aria-label="Search tools and pages"
        aria-expanded
        aria-controls="palette-choices"
        aria-activedescendant={commands[current] && `palette-${commands[current].id}`}
        autoComplete="off"
        placeholder="Search tools and pages"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value)
          setSelected(0)
        }}
        onKeyDown={onKeyDown}
        className="h-12 w-full border-b border-line bg-transparent px-4 outline-none"
      />
      <div id="palette-choices" role="listbox" aria-label="Results" className="max-h-[50vh] overflow-y-auto p-1.5">
        {commands.length === 0 && <p className="px-3 py-6 text-center text-sm text-muted">Nothing fits these words.</p>}
        {commands.map((command, index) => (
          <Choice key={command.id} command={command} isSelected={index === current} />
        ))}
      </div>
    </>
  )
}

function Choice({ command, isSelected }: { readonly command: Command; readonly isSelected: boolean }) {
  const { id, label, detail, icon: Icon, run } = command
  return (
    <div
      id={`palette-${id}`}
      role="option"
      tabIndex={-1}
      aria-selected={isSelected}
      ref={(element) => {
        if (isSelected) element?.scrollIntoView({ block: 'nearest' })
      }}
      onClick={run}
      onKeyDown={(event) => event.key === 'Enter' && run()}
      className={cx('flex cursor-pointer items-center gap-3 rounded-md px-3 py-2 text-sm', isSelected && 'bg-hover')}
    >
      <Icon className="size-4 shrink-0 text-muted" aria-hidden />
      <span className="shrink-0 font-medium">
        <SafeText max={100}>{label}</SafeText>
      </span>
      {detail !== undefined && (
        <span className="truncate text-muted">
          <SafeText max={200}>{detail}</SafeText>
        </span>
      )}
    </div>
  )
}

/** Pages and actions whose words contain the query, then the tools that agents would find. */
function useCommands(query: string, onClose: () => void): readonly Command[] {
  const navigate = useNavigate()
  const { data } = useQuery({
    queryKey: ['palette', query],
    queryFn: ({ signal }) => api.tools.search({ query, limit: maxTools, level: 'summary' }, { signal }),
    enabled: query !== '',
    placeholderData: keepPreviousData,
  })
  const run = (action: () => void) => () => {
    onClose()
    action()
  }
  const pages = navigation.map(({ label, path, icon, words = '', isOutside }) => ({
    id: `page-${label.replaceAll(' ', '-')}`,
    label,
    words: `${label} ${words}`,
    icon,
    run: run(() => (isOutside ? location.assign(path) : void navigate({ to: path }))),
  }))
  const mayWrite = useCaller().data?.scopes.includes('write') === true
  const newTool = {
    id: 'new-tool',
    label: 'New tool',
    words: 'new tool create register python edit',
    icon: Plus,
    run: run(() => void navigate({ to: '/tools/new' })),
  }
  const themes = (['light', 'dark', 'system'] as const).map((theme) => ({
    id: `theme-${theme}`,
    label: `Theme: ${theme}`,
    words: `theme color ${theme} mode`,
    icon: Palette,
    run: run(() => setTheme(theme)),
  }))
  const found = [...pages, ...(mayWrite ? [newTool] : []), ...themes].filter(({ words }) =>
    words.toLowerCase().includes(query.toLowerCase()),
  )
  const tools = query === '' ? [] : (data?.results ?? [])
  return [
    ...found,
    ...tools.map(({ id, name, shortDescription }) => ({
      id: `tool-${id}`,
      label: name,
      detail: shortDescription,
      words: '',
      icon: Wrench,
      run: run(() => void navigate({ to: '/tools/$id', params: { id } })),
    })),
  ]
}
