import { X } from 'lucide-react'
import type { OperationOutput } from 'tooldex/client'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import { Select } from '../../ui/field.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { type CatalogSearch, type FacetName, facetNames, isFiltered } from './catalog-query.ts'
import { CategoryTree } from './category-tree.tsx'

type Facets = OperationOutput<'tools.search'>['facets']

interface FacetListProps {
  readonly search: CatalogSearch
  readonly facets: Facets
  readonly onChange: (change: CatalogSearch) => void
}

const titles = {
  source: 'Source',
  category: 'Category',
  executor: 'Executor',
  namespace: 'Namespace',
  tag: 'Tag',
  readiness: 'Readiness',
} as const
const maxShown = 8
const none = { source: '', category: '', executor: '', namespace: '', tag: '', readiness: '', status: '', tree: '' }

/** The filters, with the number of tools for each value. */
export function FacetList({ search, facets, onChange }: FacetListProps) {
  return (
    <div className="flex flex-col gap-4">
      <Select label="Status" value={search.status ?? ''} onChange={(event) => onChange({ status: event.target.value })}>
        <option value="">Active</option>
        <option value="DRAFT">Draft</option>
        <option value="DISABLED">Disabled</option>
        <option value="DEPRECATED">Deprecated</option>
        <option value="all">All</option>
      </Select>
      {facetNames.map((name) =>
        name === 'category' ? (
          <CategoryTree key={name} search={search} counts={facets?.category ?? []} onChange={onChange} />
        ) : (
          <Facet key={name} name={name} search={search} facets={facets} onChange={onChange} />
        ),
      )}
      {isFiltered(search) && (
        <Button size="sm" icon={<X className="size-3.5" aria-hidden />} onClick={() => onChange(none)}>
          Remove all filters
        </Button>
      )}
    </div>
  )
}

function Facet({ name, search, facets, onChange }: FacetListProps & { readonly name: Exclude<FacetName, 'category'> }) {
  const chosen = search[name] ?? ''
  const values = facets?.[name] ?? []
  const shown = values.slice(0, maxShown)
  if (chosen === '' && values.length === 0) return null
  const all =
    shown.some(({ value }) => value === chosen) || chosen === '' ? shown : [{ value: chosen, count: 0 }, ...shown]
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-xs font-medium text-muted">{titles[name]}</legend>
      <ul>
        {all.map(({ value, count }) => (
          <li key={value}>
            <button
              type="button"
              aria-pressed={value === chosen}
              onClick={() => onChange({ [name]: value === chosen ? '' : value })}
              className={cx(
                'flex w-full items-center justify-between gap-2 rounded-md px-2 py-1 text-left text-sm hover:bg-hover',
                value === chosen && 'bg-accent-soft font-medium text-accent-strong',
              )}
            >
              <span className="truncate">
                <SafeText max={60}>{value === '' ? 'none' : value}</SafeText>
              </span>
              <span className="text-xs tabular-nums text-muted">{count.toLocaleString('en')}</span>
            </button>
          </li>
        ))}
      </ul>
    </fieldset>
  )
}
