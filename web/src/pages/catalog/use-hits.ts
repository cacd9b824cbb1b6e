import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import type { OperationInput, OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { useSettled } from '../../ui/use-settled.ts'
import { type CatalogSearch, type FacetName, facetNames, toSearch } from './catalog-query.ts'
import { pagesBetween } from './pages-between.ts'

/** A found tool. */
export type Hit = NonNullable<OperationOutput<'tools.search'>['results']>[number]

const pageSize = 50

/** The results of a search: the first page, and those around the visible part of the list. */
export function useHits(search: CatalogSearch) {
  const input = toSearch(search)
  const [seen, setSeen] = useState<readonly [number, number]>([0, 0])
  const first = useQuery({ ...pageOf(input, 0), placeholderData: keepPreviousData })
  const { results = [], omitted = 0, fit, advice, note } = first.data ?? {}
  // Where nothing fits, the nearest are listed only.
  const total = fit === 'none' ? results.length : results.length + omitted
  const pages = pagesBetween(seen, { pageSize, total }).filter((page) => page > 0)
  const others = useQueries({ queries: pages.map((page) => pageOf(input, page)) })
  const hitAt = (index: number): Hit | undefined => {
    const page = Math.floor(index / pageSize)
    const found = page === 0 ? results : others[pages.indexOf(page)]?.data?.results
    return found?.[index % pageSize]
  }
  const onSee = useCallback((from: number, to: number) => {
    setSeen((before) => (before[0] === from && before[1] === to ? before : [from, to]))
  }, [])
  return { first, total, fit, advice, note, hitAt, onSee }
}

const pageOf = (input: OperationInput<'tools.search'>, page: number) => ({
  queryKey: ['search', input, page],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
    api.tools.search({ ...input, countTokens: true, limit: pageSize, offset: page * pageSize }, { signal }),
})

/**
 * The counts of the filters; they follow once typing pauses, because they count all results. The values of a filter that is set
 * are counted without it, so that its other values can be chosen.
 */
export function useFacets(search: CatalogSearch) {
  const input = useSettled(JSON.stringify({ ...toSearch(search), explain: false }))
  const set = facetNames.filter((name) => (search[name] ?? '') !== '')
  const whole = useQuery({ ...facetsOf(input), placeholderData: keepPreviousData })
  const open = useQueries({
    queries: set.map((name) => ({
      ...facetsOf(JSON.stringify({ ...JSON.parse(input), ...without(name) })),
      placeholderData: keepPreviousData,
    })),
  })
  const facets = whole.data?.facets
  if (facets === undefined) return undefined
  const others = set.map((name, at) => [name, open[at]?.data?.facets?.[name] ?? facets[name]] as const)
  return { ...facets, ...Object.fromEntries(others) } as typeof facets
}

const facetsOf = (input: string) => ({
  queryKey: ['search', 'facets', input],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
    api.tools.search({ ...JSON.parse(input), facets: true, limit: 0 }, { signal }),
})

const without = (name: FacetName) => ({ [name === 'tag' ? 'tags' : name]: null })
