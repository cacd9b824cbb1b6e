import { useQueryClient } from '@tanstack/react-query'
import { CloudOff } from 'lucide-react'
import { useEffect } from 'react'
import { probeServer, useIsConnectionLost } from '../api/connection.ts'
import { Button } from '../ui/button.tsx'

const probeMs = 2000

/** Tells that the server does not answer; when it does again, the page is read again. */
export function ConnectionBar() {
  const queries = useQueryClient()
  const isLost = useIsConnectionLost()
  useEffect(() => {
    if (!isLost) return
    const timer = setInterval(() => void probeServer(), probeMs)
    return () => {
      clearInterval(timer)
      void queries.invalidateQueries()
    }
  }, [isLost, queries])
  return (
    <div role="status" aria-label="Connection">
      {isLost && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn">
          <CloudOff className="size-4 shrink-0" aria-hidden />
          <p className="min-w-0 flex-1">
            The server does not answer. What you see may be old; the page continues when it is back.
          </p>
          <Button size="sm" onClick={() => void probeServer()}>
            Try now
          </Button>
        </div>
      )}
    </div>
  )
}
