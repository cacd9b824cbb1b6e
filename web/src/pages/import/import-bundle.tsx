import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { type Problem, TooldexError } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { showToast } from '../../ui/toast.tsx'
import type { ReadFile } from './drop-zone.tsx'
import { PlanView } from './plan-view.tsx'

interface ImportBundleProps {
  readonly file: ReadFile
  /** Gets the problems of the text, which are shown at their lines. */
  readonly onProblems: (problems: readonly Problem[]) => void
}

/** The plan of an import, from the server, and its application. */
export function ImportBundle({ file: { name, text }, onProblems }: ImportBundleProps) {
  const queries = useQueryClient()
  const [prune, setPrune] = useState(false)
  const preview = useMutation({
    mutationFn: (prune: boolean) => api.bundle.import({ text, file: name, prune, dryRun: true }),
  })
  const apply = useMutation({
    mutationFn: () => api.bundle.import({ text, file: name, prune }),
    onSuccess: async () => {
      showToast(`Imported ${name}.`)
      await queries.invalidateQueries()
    },
  })
  const { mutate } = preview
  useEffect(() => mutate(prune), [mutate, prune])
  const error = apply.error ?? preview.error
  useEffect(() => onProblems(error instanceof TooldexError ? error.problems : []), [error, onProblems])
  return (
    <Card
      title={<SafeText max={100}>{`${apply.data === undefined ? 'Preview of' : 'Imported'} ${name}`}</SafeText>}
      actions={
        apply.data === undefined ? (
          <Button
            size="sm"
            tone="primary"
            disabled={preview.data === undefined || preview.isPending}
            isBusy={apply.isPending}
            onClick={() => apply.mutate()}
          >
            Import
          </Button>
        ) : (
          <Link to="/catalog" className="text-sm text-accent underline">
            Open the catalog
          </Link>
        )
      }
    >
      <div className="flex flex-col gap-4">
        {apply.data === undefined && (
          <Checkbox
            label="Remove what the file does not have"
            hint="Of an OpenAPI document, only tools of its namespace."
            checked={prune}
            onChange={({ target }) => setPrune(target.checked)}
          />
        )}
        {error !== null && <ErrorNotice error={error} />}
        {preview.isPending && <SkeletonRows rows={3} />}
        {apply.data === undefined && !preview.isPending && preview.data !== undefined && (
          <PlanView result={preview.data} />
        )}
        {apply.data !== undefined && <PlanView result={apply.data} />}
      </div>
    </Card>
  )
}
