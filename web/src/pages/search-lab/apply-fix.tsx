import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Wrench } from 'lucide-react'
import { useState } from 'react'
import type { OperationInput, OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { showToast } from '../../ui/toast.tsx'
import { VersionDiff } from '../tool/version-diff.tsx'

type Fix = NonNullable<OperationOutput<'catalog.lint'>['findings'][number]['fix']>

/** Shows the change that fixes a finding, and saves it as a new version. */
export function ApplyFix({ tool, fix }: { readonly tool: string; readonly fix: Fix }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button size="sm" icon={<Wrench className="size-3.5" aria-hidden />} onClick={() => setOpen(true)}>
        {fix.title}
      </Button>
      {isOpen && <FixDialog tool={tool} fix={fix} onClose={() => setOpen(false)} />}
    </>
  )
}

interface FixDialogProps {
  readonly tool: string
  readonly fix: Fix
  readonly onClose: () => void
}

function FixDialog({ tool, fix, onClose }: FixDialogProps) {
  const queries = useQueryClient()
  const changes = fix.changes as Omit<OperationInput<'registry.change'>, 'idOrName'>
  const { data, error, isPending } = useQuery({
    queryKey: ['fix', tool, changes],
    queryFn: () => api.versions.diffChange({ ...changes, idOrName: tool }),
    gcTime: 0,
  })
  const save = useMutation({
    mutationFn: (expectedVersion: number) =>
      api.tools.change({ ...changes, idOrName: tool, expectedVersion, changelog: fix.title }),
    onSuccess: ({ name, version }) => {
      showToast(`Saved ${name}, version ${version}.`)
      onClose()
      void queries.invalidateQueries()
    },
  })
  return (
    <Dialog
      title={`${fix.title}?`}
      description="It is saved as a new version, which callers get with their next call."
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone="primary"
            disabled={data === undefined}
            isBusy={save.isPending}
            onClick={() => data !== undefined && save.mutate(data.from)}
          >
            Save
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 pb-2">
        {(error ?? save.error) !== null && <ErrorNotice error={error ?? save.error} />}
        {isPending && <SkeletonRows />}
        {data !== undefined && <VersionDiff diff={data} />}
      </div>
    </Dialog>
  )
}
