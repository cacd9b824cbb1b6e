import { useNavigate, useSearch } from '@tanstack/react-router'
import { Page } from '../ui/page.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { GoldenRequests } from './search-lab/golden-requests.tsx'
import { Lint } from './search-lab/lint.tsx'

const tabs = [
  { id: 'requests', label: 'Golden requests', content: <GoldenRequests /> },
  { id: 'lint', label: 'Lint', content: <Lint /> },
] as const

/** How well agents find the tools of this catalog, and what stands in their way. */
export function SearchLabPage() {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const { tab = 'requests' } = search
  const navigate = useNavigate()
  return (
    <Page title="Search lab" description="How well agents find your tools, and what stands in their way.">
      <Tabs
        label="Search lab"
        tabs={tabs}
        value={tabs.some(({ id }) => id === tab) ? tab : 'requests'}
        onChange={(id) => void navigate({ to: '/search-lab', search: { ...search, tab: id }, replace: true })}
      />
    </Page>
  )
}
