import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { useCaller } from '../api/session.ts'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Page } from '../ui/page.tsx'
import { SkeletonRows } from '../ui/skeleton.tsx'
import { ToolEditor } from './edit/tool-editor.tsx'

/** Creates a tool. */
export function NewToolPage() {
  const { data: caller } = useCaller()
  if (caller === undefined) return <Loading />
  return <ToolEditor key="new" tool={undefined} owner={`${caller.workspace}/${caller.name}`} />
}

/** Changes a registered tool. */
export function EditToolPage() {
  const { id } = useParams({ strict: false }) as { readonly id: string }
  const { data: caller } = useCaller()
  // Read once: a later version must not replace what is being edited.
  const { data, error, refetch } = useQuery({
    queryKey: ['edit', id],
    queryFn: () => api.tools.get({ idOrName: id }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error !== null)
    return (
      <Page title="Edit">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </Page>
    )
  if (data === undefined || caller === undefined) return <Loading />
  return <ToolEditor key={data.id} tool={data} owner={`${caller.workspace}/${caller.name}`} />
}

function Loading() {
  return (
    <Page title="Edit">
      <SkeletonRows rows={8} />
    </Page>
  )
}
