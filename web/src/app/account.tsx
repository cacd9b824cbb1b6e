import { useQueryClient } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { changeSession, signOut, useCaller } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { SafeText } from '../ui/safe-text.tsx'

/** The caller of the session, and the way out. */
export function Account() {
  const queries = useQueryClient()
  const { data: caller } = useCaller()
  const leave = async () => {
    await signOut()
    changeSession(queries, { signedIn: false })
  }
  return (
    <div className="flex min-w-0 items-center gap-1">
      {caller !== undefined && (
        <span className="max-w-40 truncate text-xs text-muted max-sm:hidden" title={caller.scopes.join(', ')}>
          <SafeText max={100}>{caller.name}</SafeText>
          {caller.workspace !== 'default' && ` · ${caller.workspace}`}
        </span>
      )}
      <Button
        tone="quiet"
        size="sm"
        aria-label="Sign out"
        title="Sign out"
        className="w-7 px-0!"
        icon={<LogOut className="size-4" aria-hidden />}
        onClick={() => void leave()}
      />
    </div>
  )
}
