import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ConfirmButton } from '../../ui/confirm-button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { Field } from '../../ui/field.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'

/** Stored secrets: they can be written and deleted, never read. */
export function Secrets() {
  const queries = useQueryClient()
  const { data, error, isPending, refetch } = useQuery({ queryKey: ['secrets'], queryFn: () => api.secrets.list() })
  const remove = async (name: string) => {
    await api.secrets.remove({ name })
    showToast(`Deleted the secret ${name}.`)
    await queries.invalidateQueries({ queryKey: ['secrets'] })
  }
  return (
    <div className="flex flex-col gap-5">
      <StoreSecret names={data?.items.map(({ name }) => name) ?? []} />
      <Card title="Stored secrets" isFlush>
        {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {isPending && <SkeletonRows rows={3} />}
        {data?.items.length === 0 && (
          <EmptyState icon={<KeyRound aria-hidden />} title="No secrets yet.">
            Store one above, and refer to it in tools and sources as secret:NAME.
          </EmptyState>
        )}
        {data !== undefined && data.items.length > 0 && (
          <Table
            caption="Stored secrets"
            rows={data.items}
            keyOf={({ name }) => name}
            columns={[
              { title: 'Reference', className: 'font-mono text-xs break-all', cell: ({ name }) => `secret:${name}` },
              { title: 'Changed', cell: ({ updatedAt }) => <Time value={updatedAt} /> },
              { title: 'By', isExtra: true, cell: ({ createdBy }) => <SafeText max={100}>{createdBy ?? ''}</SafeText> },
              {
                title: 'Action',
                align: 'right',
                cell: ({ name }) => (
                  <ConfirmButton label="Delete" title={`Delete the secret ${name}?`} onConfirm={() => remove(name)}>
                    Calls of tools and servers that refer to it fail from then on. The value cannot be restored.
                  </ConfirmButton>
                ),
              },
            ]}
          />
        )}
      </Card>
    </div>
  )
}

function StoreSecret({ names }: { readonly names: readonly string[] }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const store = useMutation({
    mutationFn: () => api.secrets.put({ name: name.trim(), value }),
    onSuccess: async () => {
      showToast(`Stored the secret ${name.trim()}.`)
      setName('')
      setValue('')
      await queries.invalidateQueries({ queryKey: ['secrets'] })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    store.mutate()
  }
  const replaces = names.includes(name.trim())
  return (
    <Card title="Store a secret">
      <form onSubmit={submit} className="flex flex-col gap-3">
        <div className="grid gap-3 sm:grid-cols-2">
          <Field
            label="Name"
            required
            autoComplete="off"
            pattern="[A-Za-z0-9_.\-]{1,100}"
            placeholder="MAIL_TOKEN"
            hint={replaces ? 'There is a secret with this name; its value is replaced.' : 'Letters, digits and _ . -'}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          <Field
            label="Value"
            type="password"
            required
            autoComplete="new-password"
            hint="Encrypted before it is stored, and never shown again."
            value={value}
            onChange={({ target }) => setValue(target.value)}
          />
        </div>
        {store.error !== null && <ErrorNotice error={store.error} />}
        <Button type="submit" tone="primary" className="self-start" isBusy={store.isPending}>
          {replaces ? 'Replace' : 'Store'}
        </Button>
      </form>
    </Card>
  )
}
