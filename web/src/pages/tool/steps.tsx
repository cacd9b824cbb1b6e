import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { useCaller } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { showToast } from '../../ui/toast.tsx'

type Registered = OperationOutput<'registry.get'>

/** The legal steps of each status; the server refuses all others. */
const steps = {
  DRAFT: ['activate'],
  ACTIVE: ['deprecate', 'deactivate'],
  DISABLED: ['reactivate'],
  DEPRECATED: ['undeprecate'],
} as const
const labels = {
  activate: 'Activate',
  deactivate: 'Deactivate',
  deprecate: 'Deprecate',
  reactivate: 'Reactivate',
  undeprecate: 'Undo deprecation',
} as const

/** Buttons for the steps of the life cycle that are legal now. */
export function Steps({ tool }: { readonly tool: Registered }) {
  const queries = useQueryClient()
  const mayWrite = useCaller().data?.scopes.includes('write') === true
  const take = useMutation({
    mutationFn: (step: keyof typeof labels) => api.tools[step]({ idOrName: tool.id, expectedVersion: tool.version }),
    onSuccess: ({ name, status }) => {
      showToast(`${name} is ${status.toLowerCase()} now.`)
      void queries.invalidateQueries()
    },
    onError: (error) => showToast(error.message, { isError: true }),
  })
  if (!mayWrite) return null
  return steps[tool.status].map((step) => (
    <Button
      key={step}
      tone={step === 'activate' || step === 'reactivate' ? 'primary' : 'plain'}
      isBusy={take.isPending && take.variables === step}
      onClick={() => take.mutate(step)}
    >
      {labels[step]}
    </Button>
  ))
}
