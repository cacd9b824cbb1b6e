import { cx } from './cx.ts'

/** The shape of content that is loading. */
export function Skeleton({ className }: { readonly className?: string }) {
  return <div aria-hidden className={cx('animate-pulse rounded-md bg-hover', className ?? 'h-4 w-full')} />
}

/** Lines of content that is loading, announced once. */
export function SkeletonRows({ rows = 5 }: { readonly rows?: number }) {
  return (
    <div className="flex flex-col gap-3 p-4" role="status">
      <span className="sr-only">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all rows are alike
        <Skeleton key={index} className={index % 3 === 2 ? 'h-4 w-2/3' : 'h-4 w-full'} />
      ))}
    </div>
  )
}
