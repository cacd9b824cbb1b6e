import { useNavigate, useSearch } from '@tanstack/react-router'
import { LayoutGrid, List, Plus, SearchX, SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import { useCaller } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { cx } from '../ui/cx.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Field, Select } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import { SafeText } from '../ui/safe-text.tsx'
import { SkeletonRows } from '../ui/skeleton.tsx'
import type { CatalogSearch } from './catalog/catalog-query.ts'
import { FacetList } from './catalog/facet-list.tsx'
import { ResultList } from './catalog/result-list.tsx'
import { useFacets, useHits } from './catalog/use-hits.ts'

/** All tools, found and ranked as agents get them. */
export function CatalogPage() {
  const search = useSearch({ strict: false }) as CatalogSearch
  const navigate = useNavigate()
  const mayWrite = useCaller().data?.scopes.includes('write') === true
  const [areFiltersOpen, setFiltersOpen] = useState(false)
  const change = (more: CatalogSearch) =>
    void navigate({ to: '/catalog', search: { ...search, ...more }, replace: true, resetScroll: false })
  const { q = '' } = search
  const { first, total, fit, advice, note, hitAt, onSee } = useHits(search)
  const facets = useFacets(search)
  return (
    <Page
      title="Catalog"
      description="Every tool, found and ranked as agents get it."
      actions={
        mayWrite && (
          <Button icon={<Plus className="size-4" aria-hidden />} onClick={() => void navigate({ to: '/tools/new' })}>
            New tool
          </Button>
        )
      }
    >
      <div className="flex flex-wrap items-start gap-2">
        <SearchField initial={q} onChange={(text) => change({ q: text })} />
        <Select
          label="Ranking"
          hideLabel
          value={search.mode ?? ''}
          onChange={(event) => change({ mode: event.target.value })}
        >
          <option value="">Words and meaning</option>
          <option value="bm25">Words</option>
          <option value="embedding">Meaning</option>
          <option value="substring">Literal text</option>
        </Select>
        <Button
          aria-pressed={search.why === '1'}
          className={cx(search.why === '1' && 'border-accent! text-accent!')}
          onClick={() => change({ why: search.why === '1' ? '' : '1' })}
        >
          Why this rank
        </Button>
        <Button
          aria-label={search.view === 'cards' ? 'Show as a list' : 'Show as cards'}
          icon={
            search.view === 'cards' ? (
              <List className="size-4" aria-hidden />
            ) : (
              <LayoutGrid className="size-4" aria-hidden />
            )
          }
          onClick={() => change({ view: search.view === 'cards' ? '' : 'cards' })}
        />
        <Button
          className="lg:hidden"
          aria-expanded={areFiltersOpen}
          icon={<SlidersHorizontal className="size-4" aria-hidden />}
          onClick={() => setFiltersOpen(!areFiltersOpen)}
        >
          Filters
        </Button>
      </div>
      {first.error !== null && <ErrorNotice error={first.error} onRetry={() => void first.refetch()} />}
      <div className="grid items-start gap-5 lg:grid-cols-[13rem_minmax(0,1fr)]">
        <aside aria-label="Filters" className={cx(!areFiltersOpen && 'max-lg:hidden')}>
          <FacetList search={search} facets={facets} onChange={change} />
        </aside>
        <div className="flex min-w-0 flex-col gap-3">
          <p role="status" className="text-sm text-muted">
            {first.data === undefined ? 'Searching' : `${total.toLocaleString('en')} ${total === 1 ? 'tool' : 'tools'}`}
            {note !== undefined && (
              <>
                {'. '}
                <SafeText max={300}>{note}</SafeText>
              </>
            )}
          </p>
          {q !== '' && fit === 'none' && <NothingFits advice={advice} nearest={total} />}
          {first.isPending && <SkeletonRows rows={8} />}
          {first.data !== undefined && total === 0 && fit !== 'none' && (
            <Card isFlush>
              <EmptyState icon={<SearchX aria-hidden />} title="No tool matches.">
                Remove a filter or change the words; or add tools: see the home page.
              </EmptyState>
            </Card>
          )}
          {total > 0 && (
            <div
              className={cx(
                search.view !== 'cards' && 'overflow-hidden rounded-lg border border-line bg-surface shadow-panel',
              )}
            >
              <ResultList
                total={total}
                hitAt={hitAt}
                isCards={search.view === 'cards'}
                isRanked={q !== ''}
                onSee={onSee}
              />
            </div>
          )}
        </div>
      </div>
    </Page>
  )
}

interface SearchFieldProps {
  readonly initial: string
  readonly onChange: (text: string) => void
}

/** Keeps its own text, so that typing never waits for the URL. */
function SearchField({ initial, onChange }: SearchFieldProps) {
  const [text, setText] = useState(initial)
  return (
    <div className="min-w-56 flex-1">
      <Field
        label="Search tools"
        hideLabel
        type="search"
        placeholder="Describe the task, or type a name"
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          onChange(event.target.value)
        }}
      />
    </div>
  )
}

function NothingFits({ advice, nearest }: { readonly advice: string | undefined; readonly nearest: number }) {
  return (
    <div className="rounded-lg border border-line bg-warn-soft p-3 text-sm text-warn">
      <p className="font-medium">Nothing here fits.</p>
      {advice !== undefined && (
        <p className="mt-0.5">
          <SafeText max={500}>{advice}</SafeText>
        </p>
      )}
      {nearest > 0 && <p className="mt-0.5">The nearest tools are listed below.</p>}
    </div>
  )
}
