import { Badge, type Tone } from '../../ui/badge.tsx'

const states: Readonly<Record<string, readonly [label: string, tone: Tone]>> = {
  loaded: ['Loaded', 'ok'],
  stale: ['Last edit not loaded', 'warn'],
  configured: ['Needs approval', 'warn'],
  known: ['Ready', 'ok'],
  started: ['Started', 'ok'],
  failed: ['Failed', 'bad'],
}

/** The state of a source of tools. */
export function SourceBadge({ state }: { readonly state: string }) {
  const [label, tone] = states[state] ?? [state, 'neutral']
  return <Badge tone={tone}>{label}</Badge>
}
