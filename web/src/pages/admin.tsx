import { useNavigate, useSearch } from '@tanstack/react-router'
import { ShieldX } from 'lucide-react'
import { useCaller } from '../api/session.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { Page } from '../ui/page.tsx'
import { SkeletonRows } from '../ui/skeleton.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Audit } from './admin/audit.tsx'
import { Keys } from './admin/keys.tsx'
import { Limits, Policies, Toolsets } from './admin/rules.tsx'
import { Secrets } from './admin/secrets.tsx'
import { ServerState } from './admin/server-state.tsx'

const tabs = [
  { id: 'keys', label: 'Keys', content: <Keys /> },
  { id: 'toolsets', label: 'Toolsets', content: <Toolsets /> },
  { id: 'policies', label: 'Policies', content: <Policies /> },
  { id: 'limits', label: 'Limits', content: <Limits /> },
  { id: 'secrets', label: 'Secrets', content: <Secrets /> },
  { id: 'audit', label: 'Audit', content: <Audit /> },
  { id: 'server', label: 'Server', content: <ServerState /> },
] as const

/** Who may do what, and what was done: keys, toolsets, policies, limits, secrets, audit log, workers. */
export function AdminPage() {
  const { tab = 'keys' } = useSearch({ strict: false }) as { readonly tab?: string }
  const navigate = useNavigate()
  const { data: caller } = useCaller()
  return (
    <Page title="Admin" description="Who may do what, and what was done.">
      {caller === undefined && <SkeletonRows />}
      {caller !== undefined && !caller.scopes.includes('admin') && (
        <EmptyState icon={<ShieldX aria-hidden />} title="This page needs a key with the scope admin.">
          Sign out, then sign in with such a key; or ask an administrator.
        </EmptyState>
      )}
      {caller?.scopes.includes('admin') && (
        <Tabs
          label="Administration"
          tabs={tabs}
          value={tabs.some(({ id }) => id === tab) ? tab : 'keys'}
          onChange={(id) => void navigate({ to: '/admin', search: { tab: id }, replace: true })}
        />
      )}
    </Page>
  )
}
