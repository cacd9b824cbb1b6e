import { useNavigate } from '@tanstack/react-router'
import { X } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import { Field, Select } from '../../ui/field.tsx'
import { statuses, statusesOf } from './filters.ts'

type Search = Readonly<Record<string, string | undefined>>

const titleOf = (status: string) => status.charAt(0) + status.slice(1).toLowerCase()
const texts = [
  ['tool', 'Tool', 'git_log'],
  ['caller', 'Caller', 'key:ci'],
  ['trace', 'Trace', 'trace id'],
] as const

/** The filters of the list of runs; they are in the URL. */
export function FilterBar({ search }: { readonly search: Search }) {
  const navigate = useNavigate()
  const apply = (change: Search) => {
    const next = Object.entries({ ...search, ...change }).flatMap(([name, value]) => (value ? [[name, value]] : []))
    void navigate({ to: '/executions', search: Object.fromEntries(next), replace: true })
  }
  const chosen = statusesOf(search)
  const toggle = (status: (typeof statuses)[number]) =>
    apply({ status: statuses.filter((each) => (each === status) !== chosen.includes(each)).join(',') })
  return (
    <div className="flex flex-col gap-3">
      <fieldset className="flex flex-wrap gap-1.5" aria-label="Status">
        {statuses.map((status) => (
          <button
            key={status}
            type="button"
            aria-pressed={chosen.includes(status)}
            onClick={() => toggle(status)}
            className={cx(
              'h-7 rounded-full border px-3 text-xs font-medium transition-colors',
              chosen.includes(status)
                ? 'border-accent bg-accent-soft text-accent-strong'
                : 'border-line bg-surface text-muted hover:bg-hover hover:text-text',
            )}
          >
            {titleOf(status)}
          </button>
        ))}
      </fieldset>
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-[repeat(5,minmax(0,1fr))_auto]">
        {texts.map(([name, label, placeholder]) => (
          <Field
            key={`${name} ${search[name] ?? ''}`}
            label={label}
            placeholder={placeholder}
            type={name === 'tool' ? 'search' : 'text'}
            defaultValue={search[name] ?? ''}
            onBlur={({ target }) =>
              target.value.trim() !== (search[name] ?? '') && apply({ [name]: target.value.trim() })
            }
            onKeyDown={(event: KeyboardEvent<HTMLInputElement>) => {
              if (event.key === 'Enter') apply({ [name]: event.currentTarget.value.trim() })
            }}
          />
        ))}
        <Select label="Period" value={search.period ?? ''} onChange={({ target }) => apply({ period: target.value })}>
          <option value="">Any time</option>
          <option value="1h">Last hour</option>
          <option value="24h">Last day</option>
          <option value="7d">Last 7 days</option>
          <option value="30d">Last 30 days</option>
        </Select>
        <Select label="Kind" value={search.purpose ?? ''} onChange={({ target }) => apply({ purpose: target.value })}>
          <option value="">Calls and replays</option>
          <option value="call">Calls</option>
          <option value="replay">Replays</option>
        </Select>
        {Object.values(search).some(Boolean) && (
          <Button
            tone="quiet"
            className="self-end"
            icon={<X className="size-4" aria-hidden />}
            onClick={() => void navigate({ to: '/executions', search: {}, replace: true })}
          >
            Clear
          </Button>
        )}
      </div>
    </div>
  )
}
