import { useEffect, useMemo, useRef, useState } from 'react'
import type { OperationOutput } from 'tooldex/client'
import { dropDraft, findDraft, keepDraft } from '../../api/drafts.ts'
import { newToolForm, rebaseForm, sameForm, type ToolForm, toForm } from './tool-form.ts'

type Registered = OperationOutput<'registry.get'>

interface Draft {
  readonly form: ToolForm
  /** The form of the tool when its edit began. */
  readonly start: ToolForm
  readonly savedAt: string
}

const autosaveMs = 300

const isForm = (value: unknown): value is ToolForm =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(newToolForm).every((field) => typeof (value as Record<string, unknown>)[field] === 'string')

function readDraft(name: string): Draft | undefined {
  const { form, start, savedAt } = findDraft(name) ?? {}
  return isForm(form) && isForm(start) && typeof savedAt === 'string' ? { form, start, savedAt } : undefined
}

/** The form of a tool, with an autosaved draft in this browser that survives a reload. */
export function useDraft(tool: Registered | undefined, owner: string) {
  const name = `${owner}/${tool?.id ?? 'new'}`
  const [base, setBase] = useState(tool)
  const start = useMemo(() => (base === undefined ? newToolForm : toForm(base)), [base])
  const [restored, setRestored] = useState(() => {
    const draft = readDraft(name)
    return draft === undefined || sameForm(draft.form, start) ? undefined : draft
  })
  // Edits of an earlier version are applied to the current one.
  const [form, setForm] = useState(() =>
    restored === undefined ? start : rebaseForm(restored.form, restored.start, start),
  )
  const [stored, setStored] = useState<{ readonly form: ToolForm; readonly isTooLarge: boolean }>()
  const isSaved = useRef(false)
  const isEdited = !sameForm(form, start)
  useEffect(() => {
    const timer = setTimeout(() => {
      // The page may stay for a moment after it was saved.
      if (isSaved.current) return
      if (!isEdited) return dropDraft(name)
      const isKept = keepDraft(name, { form, start, savedAt: new Date().toISOString() })
      setStored({ form, isTooLarge: !isKept })
    }, autosaveMs)
    return () => clearTimeout(timer)
  }, [name, form, start, isEdited])
  return {
    base,
    start,
    form,
    isEdited,
    isTooLarge: stored?.isTooLarge === true,
    isStored: stored?.form === form && !stored.isTooLarge,
    restoredAt: restored?.savedAt,
    set: (change: Partial<ToolForm>) => setForm((before) => ({ ...before, ...change })),
    discard: () => {
      dropDraft(name)
      setForm(start)
      setRestored(undefined)
    },
    /** Ends the draft of a saved tool. */
    end: () => {
      isSaved.current = true
      dropDraft(name)
    },
    /** Applies the edits to another version. */
    rebase: (next: Registered) => {
      setForm(rebaseForm(form, start, toForm(next)))
      setBase(next)
    },
  }
}
