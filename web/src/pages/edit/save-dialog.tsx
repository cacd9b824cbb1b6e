import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type OperationInput, TooldexError } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Field } from '../../ui/field.tsx'
import { ProblemList } from '../../ui/problem-list.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { showToast } from '../../ui/toast.tsx'
import { VersionDiff } from '../tool/version-diff.tsx'
import { readEdits, readForm } from './tool-form.ts'
import type { useCheck } from './use-check.ts'
import type { useDraft } from './use-draft.ts'

interface SaveDialogProps {
  readonly draft: ReturnType<typeof useDraft>
  readonly check: ReturnType<typeof useCheck>
  readonly onClose: () => void
}

const meanings = {
  none: 'Nothing differs from the current version.',
  wording: 'Only texts change: calls work as before.',
  compatible: 'Calls that work now still work.',
  breaking: 'This is a breaking change: calls that work now may fail.',
} as const

/** The effect of the edits on callers, and the save, which never overwrites the change of somebody else. */
export function SaveDialog({ draft, check: { diff, problems }, onClose }: SaveDialogProps) {
  const { form, start, base } = draft
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [changelog, setChangelog] = useState('')
  const note = changelog.trim() === '' ? {} : { changelog: changelog.trim() }
  const save = useMutation({
    mutationFn: async () => {
      if (base === undefined)
        return api.tools.create({ ...(readForm(form).content as OperationInput<'registry.create'>), ...note })
      const { content } = readEdits(form, start)
      return api.tools.change({ ...content, ...note, idOrName: base.id, expectedVersion: base.version })
    },
    onSuccess: async ({ name, namespace, version }) => {
      draft.end()
      showToast(`Saved ${name}, version ${version}.`)
      void queries.invalidateQueries()
      await navigate({ to: '/tools/$id', params: { id: namespace === null ? name : `${namespace}:${name}` } })
    },
  })
  const rebase = useMutation({
    mutationFn: async () => api.tools.get({ idOrName: base?.id ?? '' }),
    onSuccess: (current) => {
      draft.rebase(current)
      onClose()
    },
  })
  const isStale =
    (save.error instanceof TooldexError && save.error.code === 'STALE') ||
    (base !== undefined && diff !== undefined && diff.from !== base.version)
  return (
    <Dialog
      title={base === undefined ? `Register ${form.name}?` : `Save version ${base.version + 1} of ${base.name}?`}
      description={base === undefined ? 'It is registered as a draft.' : meanings[diff?.class ?? 'none']}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Continue editing</Button>
          {isStale ? (
            <Button tone="primary" isBusy={rebase.isPending} onClick={() => rebase.mutate()}>
              Apply my edits to the current version
            </Button>
          ) : (
            <Button tone="primary" isBusy={save.isPending} onClick={() => save.mutate()}>
              Save
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4 pb-2">
        {isStale && (
          <p role="alert" className="rounded-md bg-warn-soft p-3 text-sm text-warn">
            Somebody changed this tool after you opened it. Nothing was saved.
          </p>
        )}
        {save.error !== null && <ErrorNotice error={save.error} />}
        {rebase.error !== null && <ErrorNotice error={rebase.error} />}
        {diff !== undefined && <VersionDiff diff={diff} />}
        {base === undefined && (
          <p className="text-sm break-words">
            <SafeText max={500}>{form.description}</SafeText>
          </p>
        )}
        <ProblemList problems={problems} />
        <Field
          label="Changelog"
          placeholder="What changes, and why"
          autoComplete="off"
          maxLength={2000}
          value={changelog}
          onChange={({ target }) => setChangelog(target.value)}
        />
      </div>
    </Dialog>
  )
}
