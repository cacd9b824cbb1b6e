import { ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import type { OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ErrorNotice } from '../../ui/error-notice.tsx'
import { SafeText } from '../../ui/safe-text.tsx'

/** A source with its items. */
export type Source = OperationOutput<'sources.get'>

interface ApprovalProps {
  readonly source: Source
  readonly onChange: (source: Source) => void
}

/** The exact command or URL that would be used, and its approval. */
export function Approval({ source: { name, transport, approval }, onChange }: ApprovalProps) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  if (approval === undefined) return <p className="text-sm text-muted">An administrator has to approve this source.</p>
  const approve = async () => {
    setBusy(true)
    setError(undefined)
    try {
      onChange(await api.sources.approve({ name, hash: approval.hash }))
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Card title="Approve this source">
      <div className="flex flex-col gap-3 text-sm">
        <p className="flex gap-2">
          <ShieldAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
          {transport === 'stdio'
            ? 'This command runs on the machine of the server with its permissions. Approve it only if you know the program and its origin.'
            : 'Calls and their arguments are sent to this URL. Approve it only if you trust its operator.'}
        </p>
        <CodeBlock label={transport === 'stdio' ? 'Exact command' : 'Exact URL'} max={100_000}>
          {approval.command}
        </CodeBlock>
        {approval.needs.length > 0 && (
          <p>
            It gets these secrets: <SafeText max={1000}>{approval.needs.join(', ')}</SafeText>
          </p>
        )}
        {error !== undefined && <ErrorNotice error={error} />}
        <Button tone="primary" className="self-start" isBusy={isBusy} onClick={() => void approve()}>
          Approve and read its tools
        </Button>
      </div>
    </Card>
  )
}
