import { Badge, StatusBadge } from '../../ui/badge.tsx'

interface WaitBadgeProps {
  readonly execution: { readonly status: string; readonly reason: string | null }
}

/** The status of a run; of a waiting one, the reason. */
export function WaitBadge({ execution: { status, reason } }: WaitBadgeProps) {
  if (reason === 'approval') return <Badge tone="warn">Needs approval</Badge>
  if (reason === 'queued') return <Badge tone="neutral">Queued</Badge>
  return <StatusBadge status={status} />
}
