import { Tabs as Radix } from 'radix-ui'
import { type ReactNode, useEffect, useRef } from 'react'

/** A tab and its content, which is rendered when it is selected. */
export interface Tab {
  readonly id: string
  readonly label: ReactNode
  readonly content: ReactNode
}

interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly value: string
  readonly onChange: (id: string) => void
}

/** Tabs; the caller keeps the selected one, often in the URL. */
export function Tabs({ label, tabs, value, onChange }: TabsProps) {
  const list = useRef<HTMLDivElement>(null)
  // On narrow screens, the selected tab can be outside of the visible part of the list.
  // biome-ignore lint/correctness/useExhaustiveDependencies: tabs that are added move the selected one
  useEffect(() => showSelected(list.current), [value, tabs.length])
  return (
    <Radix.Root value={value} onValueChange={onChange} className="min-w-0">
      <Radix.List ref={list} aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.id}
            value={tab.id}
            className="-mb-px h-9 border-b-2 border-transparent px-3 text-sm font-medium whitespace-nowrap text-muted hover:text-text data-[state=active]:border-accent data-[state=active]:text-text"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.id} value={tab.id} className="pt-4 outline-none">
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}

/** Scrolls the list only: the page stays where it is. */
function showSelected(list: HTMLElement | null) {
  const selected = list?.querySelector('[data-state=active]')
  if (!list || !selected) return
  const [outer, inner] = [list.getBoundingClientRect(), selected.getBoundingClientRect()]
  if (inner.right > outer.right) list.scrollLeft += inner.right - outer.right
  else if (inner.left < outer.left) list.scrollLeft += inner.left - outer.left
}
