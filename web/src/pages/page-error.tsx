import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Page } from '../ui/page.tsx'

/** A page that failed to load or to render. */
export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter()
  return (
    <Page title="Error">
      <ErrorNotice error={error} onRetry={() => void router.invalidate()} />
    </Page>
  )
}
