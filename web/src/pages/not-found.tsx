import { Link } from '@tanstack/react-router'
import { EmptyState } from '../ui/empty-state.tsx'
import { Page } from '../ui/page.tsx'

/** A path without a page. */
export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <EmptyState
        title="There is no page at this address."
        actions={
          <Link to="/" className="text-accent underline">
            Go to the home page
          </Link>
        }
      >
        Check the address, or search with Ctrl K.
      </EmptyState>
    </Page>
  )
}
