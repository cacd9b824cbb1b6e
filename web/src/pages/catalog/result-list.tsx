import { Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { OperationOutput } from 'tooldex/client'
import { Badge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { SafeText } from '../../ui/safe-text.tsx'
import { RankReason } from './rank-reason.tsx'

type Hit = NonNullable<OperationOutput<'tools.search'>['results']>[number]

interface ResultListProps {
  readonly hits: readonly Hit[]
  readonly total: number
  readonly isCards: boolean
  /** Whether there is a query, which gives scores a meaning. */
  readonly isRanked: boolean
  readonly onEnd: () => void
}

const [rowHeight, cardHeight] = [58, 118]
const cardWidth = 300

/** The found tools; only those near the visible part of the page are in it. */
export function ResultList({ hits, total, isCards, isRanked, onEnd }: ResultListProps) {
  const list = useRef<HTMLUListElement>(null)
  const [place, setPlace] = useState({ top: 0, width: 0 })
  useLayoutEffect(() => {
    const measure = () => {
      const box = list.current?.getBoundingClientRect()
      if (box !== undefined) setPlace({ top: box.top + window.scrollY, width: box.width })
    }
    measure()
    const observer = new ResizeObserver(measure)
    if (list.current !== null) observer.observe(list.current)
    return () => observer.disconnect()
  }, [])
  const lanes = isCards ? Math.max(1, Math.floor(place.width / cardWidth)) : 1
  const virtual = useWindowVirtualizer({
    count: hits.length,
    estimateSize: () => (isCards ? cardHeight : rowHeight),
    getItemKey: (index) => hits[index]?.id ?? index,
    overscan: 10,
    scrollMargin: place.top,
    lanes,
    gap: isCards ? 12 : 0,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: other lanes need other positions
  useEffect(() => virtual.measure(), [lanes, isCards])
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= hits.length - 20 && hits.length < total) onEnd()
  }, [last, hits.length, total, onEnd])
  return (
    <ul ref={list} aria-label="Tools" className="relative overflow-x-clip" style={{ height: virtual.getTotalSize() }}>
      {items.map((item) => {
        const hit = hits[item.index]
        if (hit === undefined) return null
        return (
          <li
            key={item.key}
            data-index={item.index}
            ref={virtual.measureElement}
            className="absolute top-0 left-0"
            style={{
              width: isCards ? `calc(${100 / lanes}% - ${lanes > 1 ? 12 : 0}px)` : '100%',
              transform: `translate(${isCards ? item.lane * (place.width / lanes) : 0}px, ${item.start - place.top}px)`,
            }}
          >
            <HitView hit={hit} isCard={isCards} isRanked={isRanked} />
          </li>
        )
      })}
    </ul>
  )
}

interface HitViewProps {
  readonly hit: Hit
  readonly isCard: boolean
  readonly isRanked: boolean
}

function HitView({ hit, isCard, isRanked }: HitViewProps) {
  return (
    <div
      className={cx(
        'min-w-0',
        isCard
          ? 'h-[118px] overflow-hidden rounded-lg border border-line bg-surface p-3 shadow-panel'
          : 'border-b border-line px-4 py-2',
      )}
    >
      <div className="flex items-baseline gap-2">
        <Link
          to="/tools/$id"
          params={{ id: hit.id }}
          className="min-w-0 truncate font-medium text-accent hover:underline"
        >
          <SafeText max={120}>{hit.name}</SafeText>
        </Link>
        {hit.namespace !== undefined && (
          <span className="truncate text-xs text-muted max-sm:hidden">
            <SafeText max={60}>{hit.namespace}</SafeText>
          </span>
        )}
        {hit.readiness !== undefined && <Badge tone="warn">{hit.readiness.state}</Badge>}
        <span className="ml-auto flex shrink-0 gap-3 text-xs tabular-nums text-muted">
          {hit.tokens !== undefined && <span title="Tokens of the definition">{hit.tokens} tokens</span>}
          {isRanked && <span title="How likely it is relevant">{hit.score.toFixed(2)}</span>}
        </span>
      </div>
      <p className={cx('text-sm text-muted', isCard ? 'mt-1 line-clamp-2' : 'truncate')}>
        <SafeText max={300}>{hit.shortDescription}</SafeText>
      </p>
      {isCard && (
        <p className="mt-2 flex flex-wrap gap-1">
          {(hit.tags ?? []).slice(0, 3).map((tag) => (
            <Badge key={tag} tone="accent">
              <SafeText max={24}>{tag}</SafeText>
            </Badge>
          ))}
        </p>
      )}
      {!isCard && hit.explanation !== undefined && <RankReason explanation={hit.explanation} />}
    </div>
  )
}
