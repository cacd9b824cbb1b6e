import { Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { SafeText } from '../../ui/safe-text.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RankReason } from './rank-reason.tsx'
import type { Hit } from './use-hits.ts'

interface ResultListProps {
  /** The number of results. */
  readonly total: number
  /** A result; undefined until its page is loaded. */
  readonly hitAt: (index: number) => Hit | undefined
  readonly isCards: boolean
  /** Whether there is a query, which gives scores a meaning. */
  readonly isRanked: boolean
  /** Receives the part of the list that is near the visible part of the page. */
  readonly onSee: (from: number, to: number) => void
}

const [rowHeight, cardHeight] = [58, 118]
const [cardWidth, cardGap] = [300, 12]

/** The found tools; only those near the visible part of the page are in it. */
export function ResultList({ total, hitAt, isCards, isRanked, onSee }: ResultListProps) {
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
  const laneWidth = (place.width - (lanes - 1) * cardGap) / lanes
  const virtual = useWindowVirtualizer({
    count: total,
    estimateSize: () => (isCards ? cardHeight : rowHeight),
    overscan: 10,
    scrollMargin: place.top,
    lanes,
    gap: isCards ? cardGap : 0,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: other lanes need other positions
  useEffect(() => virtual.measure(), [lanes, isCards])
  const items = virtual.getVirtualItems()
  const [from, to] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]
  useEffect(() => onSee(from, to), [from, to, onSee])
  return (
    <ul ref={list} aria-label="Tools" className="relative overflow-x-clip" style={{ height: virtual.getTotalSize() }}>
      {items.map((item) => {
        const hit = hitAt(item.index)
        return (
          <li
            key={item.key}
            data-index={item.index}
            ref={virtual.measureElement}
            className="absolute top-0 left-0"
            style={{
              width: isCards ? laneWidth : '100%',
              transform: `translate(${item.lane * (laneWidth + cardGap)}px, ${item.start - place.top}px)`,
            }}
          >
            {hit === undefined ? (
              <HitSkeleton isCard={isCards} />
            ) : (
              <HitView hit={hit} isCard={isCards} isRanked={isRanked} />
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** The place of a result that is not loaded yet. */
function HitSkeleton({ isCard }: { readonly isCard: boolean }) {
  return (
    <div className={cx('flex flex-col gap-2 p-4', isCard ? 'h-[118px]' : 'h-[58px] border-b border-line py-3')}>
      <Skeleton className="h-4 w-40" />
      <Skeleton className="h-3 w-full max-w-md" />
    </div>
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
        {hit.readiness !== undefined && <Badge tone="warn">{hit.readiness.state.replaceAll('-', ' ')}</Badge>}
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
