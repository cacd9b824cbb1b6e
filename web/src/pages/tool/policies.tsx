import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useCaller } from '../../api/session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { effectOn, type PolicyEffect } from './policy-effect.ts'

const tones = { hidden: 'bad', restricted: 'warn', allowed: 'ok' } as const
const labels = { hidden: 'hides it', restricted: 'restricts it', allowed: 'allows it' } as const

/** The policies that touch a tool; only callers with the scope write may read them. */
export function Policies({ tool }: { readonly tool: string }) {
  const mayRead = useCaller().data?.scopes.includes('write') === true
  const { data, error } = useQuery({ queryKey: ['policies'], queryFn: () => api.policies.list(), enabled: mayRead })
  if (!mayRead) return null
  if (error !== null) return <ErrorNotice error={error} />
  const effects = (data?.items ?? []).map(({ name, policy }) => ({ name, policy, effect: effectOn(policy, tool) }))
  return (
    <Card title="Policies">
      {effects.length === 0 && (
        <p className="text-sm text-muted">No policy restricts this tool. Every caller may call it.</p>
      )}
      <ul className="flex flex-col gap-2 text-sm">
        {effects.map(({ name, policy, effect }) => (
          <li key={name}>
            <span className="mr-2 font-medium">
              <SafeText max={100}>{name}</SafeText>
            </span>
            <Badge tone={tones[effect.kind]}>{labels[effect.kind]}</Badge>
            <Details effect={effect} callers={policy.callers} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Details({
  effect,
  callers,
}: {
  readonly effect: PolicyEffect
  readonly callers: readonly string[] | undefined
}) {
  return (
    <p className="mt-0.5 text-xs break-words text-muted">
      For <SafeText max={200}>{callers === undefined ? 'all callers' : callers.join(', ')}</SafeText>
      {effect.details.map((detail) => (
        <span key={detail}>
          {'; '}
          <SafeText max={200}>{detail}</SafeText>
        </span>
      ))}
    </p>
  )
}
