import { useQueryClient } from '@tanstack/react-query'
import { Hourglass } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { SessionState } from '../api/session.ts'
import { Button } from '../ui/button.tsx'

const noticeMs = 10 * 60_000
// Timers take at most this long.
const maxTimerMs = 2 ** 31 - 1

/** Announces the end of the session, so that nobody loses what is not saved. */
export function SessionBar() {
  const session = useQueryClient().getQueryData<SessionState>(['session'])
  const endsAt = session?.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(session.expiresAt)
  const [endsSoon, setEndsSoon] = useState(false)
  useEffect(() => {
    const left = endsAt - noticeMs - Date.now()
    const timer = setTimeout(() => setEndsSoon(left < maxTimerMs), Math.min(Math.max(0, left), maxTimerMs))
    return () => clearTimeout(timer)
  }, [endsAt])
  const signInAgain = () =>
    location.assign(`/session/authorize?to=${encodeURIComponent(location.pathname + location.search)}`)
  return (
    <div role="status" aria-label="Session">
      {endsSoon && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn">
          <Hourglass className="size-4 shrink-0" aria-hidden />
          <p className="min-w-0 flex-1">
            The session ends at {new Date(endsAt).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit' })}.
            Drafts of the tool editor are kept; save other changes before.
          </p>
          {session?.signInWith !== undefined && (
            <Button size="sm" onClick={signInAgain}>
              Sign in again
            </Button>
          )}
        </div>
      )}
    </div>
  )
}
