import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { probeServer, useIsConnectionLost } from '../api/connection.ts'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Page } from '../ui/page.tsx'
import { PageLoadError } from './load-page.ts'

/** A page that failed to load or to render. */
export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter()
  return (
    <Page title="Error">
      {error instanceof PageLoadError ? (
        <NotLoaded error={error} />
      ) : (
        <ErrorNotice error={error} onRetry={() => void router.invalidate()} />
      )}
    </Page>
  )
}

/** Browsers keep a failed import, so the page is loaded anew as soon as the server answers. */
function NotLoaded({ error }: { readonly error: PageLoadError }) {
  const isLost = useIsConnectionLost()
  const wasLost = useRef(isLost)
  useEffect(() => {
    if (wasLost.current && !isLost) location.reload()
    wasLost.current = isLost
  }, [isLost])
  const retry = async () => {
    if (await probeServer()) location.reload()
  }
  return <ErrorNotice error={error} onRetry={() => void retry()} />
}
