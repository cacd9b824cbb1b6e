import { useMutation } from '@tanstack/react-query'
import { LogIn, LogOut } from 'lucide-react'
import { api } from '../../api/client.ts'
import { useCaller } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { SafeText } from '../../ui/safe-text.tsx'
import { showToast } from '../../ui/toast.tsx'
import type { Source } from './approval.tsx'

interface SignInProps {
  readonly source: Source
  readonly onChange: () => void
}

/** The sign-in at the server of a source: of the caller, or the one that all callers share. */
export function SignIn({ source: { name, signIn }, onChange }: SignInProps) {
  const { data: caller } = useCaller()
  const onError = ({ message }: Error) => showToast(message, { isError: true })
  const begin = useMutation({
    mutationFn: () => api.sources.signIn({ name }),
    onSuccess: ({ url }) => void window.open(url, '_blank', 'noopener'),
    onError,
  })
  const end = useMutation({ mutationFn: () => api.sources.signOut({ name }), onSuccess: onChange, onError })
  if (signIn === undefined) return null
  const { mode, isSignedIn, failure } = signIn
  const mayChange = mode === 'caller' || caller?.scopes.includes('admin') === true
  const account = mode === 'caller' ? 'your account' : 'one account for all callers'
  return (
    <Card title="Sign-in">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p>
          {isSignedIn ? `Calls use ${account}.` : `Calls need a sign-in; they will use ${account}.`}
          {failure !== null && (
            <>
              {' '}
              The last one has ended: <SafeText max={200}>{failure}</SafeText>.
            </>
          )}
        </p>
        {mayChange && !isSignedIn && (
          <Button
            size="sm"
            icon={<LogIn className="size-3.5" aria-hidden />}
            isBusy={begin.isPending}
            onClick={() => begin.mutate()}
          >
            Sign in
          </Button>
        )}
        {mayChange && isSignedIn && (
          <Button
            size="sm"
            icon={<LogOut className="size-3.5" aria-hidden />}
            isBusy={end.isPending}
            onClick={() => end.mutate()}
          >
            Sign out
          </Button>
        )}
      </div>
    </Card>
  )
}
