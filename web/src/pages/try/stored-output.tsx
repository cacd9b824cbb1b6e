import { useInfiniteQuery } from '@tanstack/react-query'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'

type StoredResult = NonNullable<OperationOutput<'executions.get'>['result']>

const pageSize = 200

/** A large output, read part by part through its handle. */
export function StoredOutput({ result }: { readonly result: StoredResult }) {
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['result', result.handle],
    queryFn: ({ pageParam }) => api.results.read({ handle: result.handle, offset: pageParam, limit: pageSize }),
    initialPageParam: 0,
    getNextPageParam: (last) => last.nextOffset,
  })
  if (error !== null) return <ErrorNotice error={error} />
  if (isPending) return <SkeletonRows />
  const items = data.pages.flatMap((page) => page.items)
  const text = items.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join('\n')
  return (
    <div className="flex flex-col gap-2">
      <p className="text-xs text-muted">
        {result.bytes.toLocaleString('en')} bytes of {result.mediaType}; handle{' '}
        <code className="font-mono">{result.handle}</code>
      </p>
      <CodeBlock label={`${items.length} of ${data.pages[0]?.total ?? 0}`} max={200_000}>
        {text}
      </CodeBlock>
      {hasNextPage && (
        <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()} className="self-start">
          Read more
        </Button>
      )}
    </div>
  )
}
