import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { showToast } from '../../ui/toast.tsx'
import { VersionDiff } from '../tool/version-diff.tsx'
import type { Source } from './approval.tsx'

type Change = NonNullable<Source['changes']>[number]

const classTones: Readonly<Record<string, Tone>> = { wording: 'info', compatible: 'ok', breaking: 'bad' }

interface ChangesProps {
  readonly source: Source
  readonly onChange: (source: Source) => void
}

/** The definitions that changed at the server and are not in use, with a decision for each. */
export function Changes({ source, onChange }: ChangesProps) {
  const { name, reading, changes = [] } = source
  const [busy, setBusy] = useState<string>()
  const [error, setError] = useState<unknown>()
  if (changes.length === 0 || reading === undefined) return null
  const decide = async (verb: 'accept' | 'refuse', items: readonly string[]) => {
    setBusy(`${verb} ${items.join()}`)
    setError(undefined)
    try {
      onChange(await api.sources[verb]({ name, reading, items: [...items] }))
      showToast(`${verb === 'accept' ? 'Accepted' : 'Refused'} ${items.length} changed definitions of ${name}.`)
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(undefined)
    }
  }
  const waiting = changes.filter(({ decision }) => decision === 'waiting').map(({ item }) => item)
  return (
    <Card
      title={`Changed definitions (${changes.length})`}
      actions={
        waiting.length > 1 && (
          <>
            <Button
              size="sm"
              isBusy={busy === `accept ${waiting.join()}`}
              onClick={() => void decide('accept', waiting)}
            >
              Accept all {waiting.length}
            </Button>
            <Button
              size="sm"
              tone="danger"
              isBusy={busy === `refuse ${waiting.join()}`}
              onClick={() => void decide('refuse', waiting)}
            >
              Refuse all
            </Button>
          </>
        )
      }
    >
      <p className="mb-3 text-sm text-muted">
        Agents still get the accepted definitions. Accept a change to use it; refuse it to keep what is in use.
      </p>
      {error !== undefined && <ErrorNotice error={error} />}
      <ul className="flex flex-col gap-4">
        {changes.map((change) => (
          <li key={change.item} className="rounded-md border border-line p-3">
            <ChangeHeader change={change} busy={busy} onDecide={(verb) => void decide(verb, [change.item])} />
            <Difference change={change} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

interface ChangeHeaderProps {
  readonly change: Change
  readonly busy: string | undefined
  readonly onDecide: (verb: 'accept' | 'refuse') => void
}

function ChangeHeader({ change, busy, onDecide }: ChangeHeaderProps) {
  const { item, decision, suspicious } = change
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-mono text-sm font-medium break-all">
          <SafeText max={200}>{item}</SafeText>
        </span>
        <Badge>{change.change}</Badge>
        <Badge tone={classTones[change.class] ?? 'neutral'}>{change.class}</Badge>
        {decision !== 'waiting' && <Badge tone="neutral">{decision}</Badge>}
        <span className="ml-auto flex gap-2">
          <Button size="sm" isBusy={busy === `accept ${item}`} onClick={() => onDecide('accept')}>
            Accept
          </Button>
          {decision === 'waiting' && (
            <Button size="sm" tone="danger" isBusy={busy === `refuse ${item}`} onClick={() => onDecide('refuse')}>
              Refuse
            </Button>
          )}
        </span>
      </div>
      {suspicious.length > 0 && <Suspicious signs={suspicious} />}
    </>
  )
}

/** Signs that a definition tries to instruct its reader. */
export function Suspicious({ signs }: { readonly signs: readonly string[] }) {
  return (
    <p className="mt-2 flex gap-2 rounded-md bg-bad-soft px-2 py-1 text-sm text-bad">
      <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
      <SafeText max={500}>{`Suspicious text: ${signs.join('; ')}`}</SafeText>
    </p>
  )
}

function Difference({ change: { diff, before, after } }: { readonly change: Change }) {
  if (diff === undefined || diff.fields.length === 0)
    return (
      <div className="mt-3 grid gap-3 lg:grid-cols-2">
        {before !== undefined && <JsonView label="In use" value={before} />}
        {after !== undefined && <JsonView label="At the server" value={after} />}
      </div>
    )
  return (
    <div className="mt-3">
      <VersionDiff diff={diff} />
    </div>
  )
}
