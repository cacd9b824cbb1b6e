import { useQueryClient } from '@tanstack/react-query'
import { Check, X } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useCaller } from '../../api/session.ts'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { showToast } from '../../ui/toast.tsx'

interface DecideButtonsProps {
  readonly execution: { readonly id: string; readonly toolName: string; readonly callerId: string | null }
  /** The arguments of the call, where they are at hand. */
  readonly input?: unknown
}

const maxNote = 1000

/** Approves or refuses a call that waits for approval. */
export function DecideButtons({ execution, input }: DecideButtonsProps) {
  const { data: caller } = useCaller()
  const queries = useQueryClient()
  const [note, setNote] = useState('')
  if (caller?.scopes.includes('write') !== true) return null
  const { id, toolName, callerId } = execution
  const decide = (verb: 'approve' | 'refuse') => async () => {
    await api.executions[verb]({ id, ...(note.trim() === '' ? {} : { note: note.trim() }) })
    setNote('')
    showToast(verb === 'approve' ? `Approved the call of ${toolName}.` : `Refused the call of ${toolName}.`)
    await queries.invalidateQueries({ queryKey: ['executions'] })
  }
  const what = (
    <div className="flex flex-col gap-3">
      {input !== undefined && <JsonView label="Input" value={input} />}
      <TextArea
        label="Note"
        hint="Stored in the audit log; the caller sees the note of a refusal."
        rows={2}
        maxLength={maxNote}
        value={note}
        onChange={({ target }) => setNote(target.value)}
      />
    </div>
  )
  const by = (
    <>
      <SafeText max={120}>{toolName}</SafeText>, called by{' '}
      <SafeText max={120}>{callerId ?? 'an unknown caller'}</SafeText>
    </>
  )
  return (
    <>
      <ConfirmButton
        label="Approve"
        tone="primary"
        icon={<Check className="size-3.5" aria-hidden />}
        title="Approve this call?"
        onConfirm={decide('approve')}
      >
        <p className="mb-3">The call runs as soon as a slot is free: {by}.</p>
        {what}
      </ConfirmButton>
      <ConfirmButton
        label="Refuse"
        icon={<X className="size-3.5" aria-hidden />}
        title="Refuse this call?"
        onConfirm={decide('refuse')}
      >
        <p className="mb-3">The call ends without a run, and its caller gets an error: {by}.</p>
        {what}
      </ConfirmButton>
    </>
  )
}
